/**
 * What is counted of hosts: the names and labels of Metal3's operator, so that its users' dashboards and alerts go on. What follows from a
 * change of the status is derived from that, so that nothing is counted that was not written.
 */
import type { Fault, Tallied, Tally } from "@slipway/base";
import { keyOf, refOf } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DETACHED, detachedDelays } from "./annotations.ts";
import { reasonOf } from "./conditions.ts";
import { stateOf } from "./state.ts";

const HOST = ["namespace", "host"] as const;
/** s. A registration is short, all else is long. */
const SHORT = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LONG = [30, 90, 180, 360, 720, 1440];

export const HOST_TALLIES: readonly Tally[] = [
  counter("metal3_reconcile_total", "Times that a host was looked at", HOST),
  counter("metal3_reconcile_error_total", "Times that looking at a host has failed"),
  counter("metal3_host_error_total", "Failures of hosts, by their errorType as its event calls it", ["error_type"]),
  counter("metal3_operation_power_change_total", "Times that a BMC has switched a host", [...HOST, "on_off"]),
  counter("metal3_credentials_missing_total", "Times that a BMC's Secret, or a key of it, was missing"),
  counter("metal3_credentials_invalid_total", "Times that a BMC refused its credentials, or its address was none"),
  counter("metal3_credentials_updated_total", "Times that other credentials than before were good"),
  counter("metal3_credentials_no_management_access_total", "Times that a BMC could not be asked for another reason"),
  counter("metal3_host_config_data_error_total", "Times that data for a host's first boot were missing", [
    "host_data_type",
  ]),
  counter("metal3_delayed__provisioning_total", "Times that a host had to wait for others before its work", HOST),
  counter("metal3_delayed__deprovisioning_total", "Times that a host had to wait for others before its wipe", HOST),
  counter("metal3_provisioning_state_change_total", "Changes of hosts' states", ["prev_state", "new_state"]),
  counter("metal3_host_registration_required_total", "Times that a host began to register"),
  counter("metal3_host_unmanaged_total", "Times that a host was found to be unmanaged"),
  counter("metal3_delete_without_deprovisioning_total", "Hosts that were deleted though their wipe had failed"),
  counter("metal3_delete_without_powering_off_total", "Hosts that were deleted though they could not be powered off"),
  counter("metal3_delete_delayed_for_detached_total", "Deletions that had to wait for a host to be attached again"),
  counter("metal3_provisioner_not_ready_total", "Times that a host had to wait for netboot to serve"),
  ...(["register", "inspect", "provision", "deprovision"] as const).map((operation) => ({
    name: durationOf(operation),
    help: `Seconds that it took to ${operation} a host`,
    labels: HOST,
    buckets: operation === "register" ? SHORT : LONG,
  })),
];

/** What has happened when the status of a host became another. */
export function talliedOf(before: BareMetalHost, after: BareMetalHost): Tallied[] {
  const [from, to] = [stateOf(before), stateOf(after)];
  const isFresh = (after.status?.errorCount ?? 0) > (before.status?.errorCount ?? 0);
  return [
    ...(from === to ? [] : movedTallies(from, to)),
    ...durations(before, after),
    ...(isFresh
      ? [{ name: "metal3_host_error_total", labels: { error_type: reasonOf(after.status?.errorType ?? "") } }]
      : []),
    ...(hasOtherCredentials(before, after) ? [{ name: "metal3_credentials_updated_total" }] : []),
    ...(isNowDelayed(before, after) ? [delayedTally(after)] : []),
    ...(waitsToBeAttached(after) && !waitsToBeAttached(before)
      ? [{ name: "metal3_delete_delayed_for_detached_total" }]
      : []),
  ];
}

/** What it means for the credentials that a BMC could not be asked. */
export function credentialsTally({ code }: Pick<Fault, "code">): Tallied {
  const names = { MissingInput: "missing", BadCredentials: "invalid", Invalid: "invalid" } as Record<string, string>;
  return { name: `metal3_credentials_${names[code] ?? "no_management_access"}_total` };
}

/** What a step that was refused says of the data for the first boot; undefined: it was refused for something else. */
export function dataTally({ code, on }: Pick<Fault, "code" | "on">): Tallied | undefined {
  const field = /^spec\.(userData|metaData|networkData)$/.exec(on)?.[1];
  if (field === undefined || code !== "MissingInput") return undefined;
  return { name: "metal3_host_config_data_error_total", labels: { host_data_type: field } };
}

/** One of the host's own series. */
export function hostTally(name: string, host: BareMetalHost, labels: Readonly<Record<string, string>> = {}): Tallied {
  const { namespace = "", name: own } = host.metadata;
  return { name, labels: { namespace, host: own, ...labels }, of: keyOf(refOf(host)) };
}

function movedTallies(from: string, to: string): Tallied[] {
  const labels = { prev_state: from, new_state: to };
  return [
    { name: "metal3_provisioning_state_change_total", labels },
    ...(to === "registering" ? [{ name: "metal3_host_registration_required_total" }] : []),
    ...(to === "unmanaged" ? [{ name: "metal3_host_unmanaged_total" }] : []),
  ];
}

/** Of the operations that have ended. */
function durations(before: BareMetalHost, after: BareMetalHost): Tallied[] {
  const [was, is] = [before.status?.operationHistory, after.status?.operationHistory];
  return (["register", "inspect", "provision", "deprovision"] as const).flatMap((operation) => {
    const { start, end } = is?.[operation] ?? {};
    if (!start || !end || was?.[operation]?.end === end) return [];
    const value = (Date.parse(end) - Date.parse(start)) / 1_000;
    return [{ ...hostTally(durationOf(operation), after), value }];
  });
}

function hasOtherCredentials(before: BareMetalHost, after: BareMetalHost): boolean {
  const [was, is] = [before, after].map(({ status }) => status?.goodCredentials?.credentialsVersion);
  return was !== undefined && is !== undefined && was !== is;
}

function isNowDelayed(before: BareMetalHost, after: BareMetalHost): boolean {
  return after.status?.operationalStatus === "delayed" && before.status?.operationalStatus !== "delayed";
}

function delayedTally(host: BareMetalHost): Tallied {
  const work = ["deprovisioning", "provisioned"].includes(stateOf(host)) ? "deprovisioning" : "provisioning";
  return hostTally(`metal3_delayed__${work}_total`, host);
}

function waitsToBeAttached(host: BareMetalHost): boolean {
  const isLeaving = host.metadata.deletionTimestamp !== undefined;
  return isLeaving && detachedDelays(host) && host.status?.waitingFor?.includes(DETACHED) === true;
}

function durationOf(operation: string): string {
  return `metal3_operation_${operation}_duration_seconds`;
}

function counter(name: string, help: string, labels: readonly string[] = []): Tally {
  return { name, help, labels };
}
