/** What a user has a host do, by its BareMetalHost: the same fields and annotations that Metal3's users write, so that the engine does it. Pure. */
import { Fault } from "@slipway/base";
import type { BareMetalHost } from "../kinds/metal3/bare-metal-host.ts";
import {
  CONSUMER_LABEL,
  DETACHED,
  hostAnnotations,
  INSPECT,
  isPaused,
  PAUSED,
  REBOOT,
  WIPE,
} from "./hosts/annotations.ts";
import { stateOf } from "./hosts/state.ts";

export interface HostOrder {
  /** Throws a `Fault` for a host that it would not be done on, and says what to do instead. */
  check(host: BareMetalHost): void;
  /** What to write to the host, as a merge patch. */
  patch: object;
  /** Whether all that was asked for has come about. */
  isDone(host: BareMetalHost): boolean;
}

/** Switches a host on or off, and keeps it so. Off: its system is asked to end, and after three minutes it is cut off. */
export function power(on: boolean): HostOrder {
  return {
    check(host) {
      checkReachable(host);
      demandBmc(host, on ? "switch the machine on by hand" : `slipway order poweroff ${host.metadata.name}`);
    },
    patch: { spec: { online: on } },
    isDone: ({ status }) => status?.poweredOn === on,
  };
}

/** Switches a host off and on again. `hard`: at once. */
export function reset({ hard }: { hard: boolean }): HostOrder {
  return {
    check(host) {
      checkReachable(host);
      demandBmc(host, `slipway order reboot ${host.metadata.name}`);
      if (!host.spec.online) throw refusal(host, "it is to be off", "slipway power on");
    },
    // Without force a host that nobody uses would not do it.
    patch: annotated(REBOOT, JSON.stringify({ mode: hard ? "hard" : "soft", force: true })),
    isDone: (host) => hostAnnotations(host)[REBOOT] === undefined && host.status?.poweredOn === true,
  };
}

/** Looks at the hardware again, and wipes. */
export const inspect: HostOrder = {
  check(host) {
    checkReachable(host);
    demandUnused(host);
    if (host.spec.inspectionMode === "disabled")
      throw refusal(host, "spec.inspectionMode is disabled", "take that out");
  },
  patch: annotated(INSPECT, ""),
  isDone: (host) => hostAnnotations(host)[INSPECT] === undefined && isAvailable(host),
};

/** Wipes the disks of a host that nobody uses. */
export const wipe: HostOrder = {
  check(host) {
    checkReachable(host);
    demandUnused(host);
    if (host.spec.automatedCleaningMode === "disabled")
      throw refusal(host, "spec.automatedCleaningMode is disabled", "set it to metadata");
  },
  patch: annotated(WIPE, ""),
  isDone: (host) => hostAnnotations(host)[WIPE] === undefined && isAvailable(host),
};

/** Takes away what is installed, and whose it is. `force`: also from a consumer that may claim it again. */
export function release({ force }: { force: boolean }): HostOrder {
  const nothing = { image: null, customDeploy: null, userData: null, networkData: null, metaData: null };
  return {
    check(host) {
      checkReachable(host);
      if (host.spec.externallyProvisioned === true)
        throw refusal(host, "spec.externallyProvisioned is set: its disks are not Slipway's", "take that out");
      const { consumerRef } = host.spec;
      if (consumerRef !== undefined && !force)
        throw refusal(host, `it is used by ${consumerRef.kind} ${consumerRef.name}`, "delete that, or give --force");
    },
    patch: { metadata: { labels: { [CONSUMER_LABEL]: null } }, spec: { ...nothing, consumerRef: null } },
    isDone: (host) => host.spec.consumerRef === undefined && isAvailable(host),
  };
}

/** Where the host stands, in words that change only when there is news. */
export function hostStanding({ status }: BareMetalHost): string {
  const state = status?.provisioning?.state || "new";
  const waiting = status?.waitingFor;
  if (waiting !== undefined && waiting !== "") return `${state}: waits for ${waiting}`;
  return status?.errorMessage ? `${state}: ${status.errorMessage}` : state;
}

function isAvailable({ status, spec }: BareMetalHost): boolean {
  const isEmpty = spec.image === undefined && spec.customDeploy === undefined;
  return isEmpty && status?.provisioning?.state === "available" && status.operationalStatus !== "error";
}

/** Nothing would be done with it. */
function checkReachable(host: BareMetalHost): void {
  const { metadata, status } = host;
  if (metadata.deletionTimestamp !== undefined) throw refusal(host, "it is being deleted", "wait until it is gone");
  if (isPaused(host)) throw refusal(host, `it is paused by ${PAUSED}`, "ask who set the annotation, and take it off");
  if (hostAnnotations(host)[DETACHED] !== undefined)
    throw refusal(host, "it is detached", `take the annotation ${DETACHED} off`);
  const state = stateOf(host);
  if (state === "unmanaged" || state === "")
    throw refusal(host, `it is not managed: it waits for ${status?.waitingFor ?? "the operator"}`, "see to that first");
  if (status?.agent?.trust === "discovered" && host.spec.bmc === undefined)
    throw refusal(
      host,
      "it is not trusted: neither declared nor approved",
      "declare it by its MAC, or annotate it with slipway.dev/approved",
    );
}

function demandBmc(host: BareMetalHost, instead: string): void {
  if (host.spec.bmc === undefined) throw refusal(host, "it has no BMC", instead);
}

function demandUnused(host: BareMetalHost): void {
  const { consumerRef, image, customDeploy } = host.spec;
  if (consumerRef !== undefined || image !== undefined || customDeploy !== undefined) {
    const by = consumerRef === undefined ? "something is installed" : `by ${consumerRef.kind} ${consumerRef.name}`;
    throw refusal(host, `it is in use: ${by}`, "slipway release gives it back, and wipes it");
  }
}

function annotated(name: string, value: string): object {
  return { metadata: { annotations: { [name]: value } } };
}

function refusal({ metadata: { namespace, name } }: BareMetalHost, what: string, remedy: string): Fault {
  return new Fault("Conflict", `BareMetalHost/${namespace}/${name}`, what, { remedy });
}
