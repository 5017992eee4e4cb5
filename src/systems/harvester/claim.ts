import { parseDuration, parseQuantity, quantityNumber } from "@slipway/base";
import { Instance, type InstanceSpec } from "../../kinds/harvester/instance.ts";
import { type Claim, DEFAULT_POLL_MS } from "../../machines/lifecycle.ts";
import {
  type Boot,
  type Concern,
  NETWORK_MODES,
  type NetworkMode,
  type NetworkWish,
  type Order,
  type Placement,
} from "../../machines/machine.ts";
import { POOL_LABEL } from "./names.ts";

const MINUTE_MS = 60_000;
const DEFAULT_PROVISION_MS = 30 * MINUTE_MS;
const DEFAULT_JOIN_MS = 60 * MINUTE_MS;

const LAST_STAGE = { awaited: "the installed machine to join as a Ready Node", missed: "no Ready Node" };

/** What the lifecycle needs to know of an Instance's wishes. Durations that can't be read count as unset; `concerns` reports them. */
export function claimOf(instance: Instance, pollMs = DEFAULT_POLL_MS): Claim {
  const { spec } = instance;
  const network = networkOf(spec);
  return {
    id: instance.metadata.uid,
    placements: placementsOf(spec),
    network,
    passes: passesOf(spec, network),
    provisionTimeoutMs: durationOf(spec.provisionTimeout) ?? DEFAULT_PROVISION_MS,
    joinTimeoutMs: durationOf(spec.joinTimeout) ?? DEFAULT_JOIN_MS,
    pollMs,
    lastStage: LAST_STAGE,
  };
}

/** Every metro of the first plan, then every metro of the next: the user's first choice of hardware wins over the place. */
export function placementsOf(spec: InstanceSpec): Placement[] {
  const metros: (string | undefined)[] = distinct([spec.metro, ...(spec.metros ?? [])]);
  const plans = distinct([spec.plan, ...(spec.plans ?? [])]);
  const facility = present(spec.facility);
  const where = metros.length === 0 ? [undefined] : metros;
  return plans.flatMap((plan) => where.map((metro) => ({ plan, metro, ...(facility.length > 0 && { facility }) })));
}

/** The ports as the user wants them; undefined where nothing is asked for. */
export function networkOf(spec: InstanceSpec): NetworkWish | undefined {
  const wanted = spec.networkingConfiguration;
  if (wanted === undefined || (!wanted.type && !wanted.interfaceConfiguration?.length)) return undefined;
  const mode = NETWORK_MODES.find((known) => known === wanted.type);
  return {
    mode,
    vlans: (wanted.interfaceConfiguration ?? []).map((port) => ({
      port: port.name ?? "",
      vlans: present(port.vlanIDS),
    })),
    ...(wanted.createVLANs && { createVlans: true }),
  };
}

/** Modes that take the management network away from the ports: set before the installation, or it would be cut off. */
const MUST_CHANGE_FIRST: ReadonlySet<NetworkMode | undefined> = new Set<NetworkMode>([
  "layer2-bonded",
  "layer2-individual",
]);

/**
 * One boot, unless the network must change first, or the provider has to be asked for the management NIC (H30): it is not the one that the
 * machine boots from, or the script is the user's own and does not name that one.
 */
export function passesOf(spec: InstanceSpec, network: NetworkWish | undefined): 1 | 2 {
  if (spec.installMode === "OneBoot") return 1;
  if (spec.installMode === "TwoPass") return 2;
  const mustAsk = managementPorts(spec).join() !== "eth0" || Boolean(spec.ipxeScriptUrl);
  return mustAsk || MUST_CHANGE_FIRST.has(network?.mode) ? 2 : 1;
}

/** Names of the ports that carry the management network. */
export function managementPorts(spec: InstanceSpec): string[] {
  const named = present(spec.managementInterfaces);
  return named.length > 0 ? named : ["eth0"];
}

/** The order for a machine of this Instance. `onDemand`: at the fixed price, whatever the specification asks for. */
export function orderOf(
  { spec, metadata }: Instance,
  { placement, boot, onDemand }: { placement: Placement; boot: Boot; onDemand: boolean },
): Order {
  const price = priceOf(spec.spotPriceMax) ?? 0;
  return {
    claim: metadata.uid,
    claimant: { apiVersion: `${Instance.group}/${Instance.version}`, kind: Instance.kind, name: metadata.name },
    group: metadata.labels?.[POOL_LABEL],
    hostname: metadata.name,
    placement,
    operatingSystem: spec.operating_system || "custom_ipxe",
    boot,
    tags: present(spec.tags),
    ...(spec.billingCycle && { billingCycle: spec.billingCycle }),
    ...(spec.projectID && { projectId: spec.projectID }),
    ...(spec.description && { description: spec.description }),
    ...(spec.spotInstance && !onDemand && { spot: price > 0 ? { maxPrice: String(price) } : {} }),
    ...(spec.hardwareReservation_id && { reservation: spec.hardwareReservation_id }),
    ...(present(spec.usersshKeys).length > 0 && { userSshKeys: present(spec.usersshKeys) }),
    ...(present(spec.projectsshKeys).length > 0 && { projectSshKeys: present(spec.projectsshKeys) }),
    ...(spec.nosshKeys !== undefined && { noSshKeys: spec.nosshKeys }),
    ...(spec.features && { features: withoutNulls(spec.features) }),
    ...(spec.customData && { customData: spec.customData }),
    ...(spec.publicIPv4SubnetSize !== undefined && { publicIPv4SubnetSize: spec.publicIPv4SubnetSize }),
    ...(spec.alwaysPxe !== undefined && { alwaysPxe: spec.alwaysPxe }),
  };
}

/** What in the specification can't work, whichever provider serves it. */
export function specConcerns(spec: InstanceSpec): Concern[] {
  const concerns: Concern[] = [];
  const fatal = (field: string, message: string): unknown => concerns.push({ field, message, fatal: true });
  if (!spec.plan && !spec.plans?.length) fatal("spec.plan", "a plan is required");
  const mode = spec.networkingConfiguration?.type;
  if (mode && !NETWORK_MODES.some((known) => known === mode)) {
    fatal(
      "spec.networkingConfiguration.type",
      `"${mode}" is not a network mode: use one of ${NETWORK_MODES.join(", ")}`,
    );
  }
  for (const name of ["nodeCleanupWaitInterval", "provisionTimeout", "joinTimeout"] as const) {
    if (spec[name] && durationOf(spec[name]) === undefined) {
      fatal(`spec.${name}`, `"${spec[name]}" is not a duration such as 5m or 1h30m`);
    }
  }
  if (spec.drain?.timeout && durationOf(spec.drain.timeout) === undefined) {
    fatal("spec.drain.timeout", `"${spec.drain.timeout}" is not a duration such as 5m or 1h30m`);
  }
  if (priceOf(spec.spotPriceMax) === undefined) {
    fatal("spec.spotPriceMax", `"${spec.spotPriceMax}" is not a price such as "0.5"`);
  }
  return concerns;
}

/** The price in a Quantity, as the addon writes `0.5` back as `500m`, and no limit as `0`. Undefined: it can't be read. */
export function priceOf(text: string | null | undefined): number | undefined {
  if (!text) return 0;
  try {
    const price = quantityNumber(parseQuantity(text));
    return price >= 0 ? price : undefined;
  } catch {
    return undefined;
  }
}

/** A duration in ms; undefined where there is none or it can't be read. */
export function durationOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  try {
    const ms = parseDuration(text);
    return ms < 0 ? undefined : ms;
  } catch {
    return undefined;
  }
}

/** The items that are not null: lists of the kinds may hold nulls. */
export function present<T>(list: readonly (T | null)[] | null | undefined): T[] {
  return (list ?? []).filter((item): item is T => item !== null);
}

/** The entries whose value is not null. */
export function withoutNulls(map: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter((entry): entry is [string, string] => entry[1] !== null));
}

function distinct(list: readonly (string | null | undefined)[]): string[] {
  return [...new Set(list.filter((item): item is string => Boolean(item)))];
}
