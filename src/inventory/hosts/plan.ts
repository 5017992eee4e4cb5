/**
 * The life of a BareMetalHost: state → handler, each saying the one next step. Pure: a crash between two steps changes nothing, the next
 * call says the same. The states, their order and what leads from one to the next are Metal3's.
 */
import { isoTime } from "@slipway/base";
import { takeOutMedia } from "./agent-media.ts";
import { DETACHED, detachedDelays, hostAnnotations, INSPECT, isDetachedByForce, STATUS, WIPE } from "./annotations.ts";
import type { Facts, Operation } from "./facts.ts";
import { planProvisioning, wanted, wantsInstalling, wantsOther } from "./install-stage.ts";
import { event, move, progressed, recovered, told, waitUntil } from "./moves.ts";
import { managePower, powerOff } from "./power-stage.ts";
import { begin, leftToItsDisk, planInspecting, planRegistering, planUnmanaged } from "./registration.ts";
import { type HostState, isWork, needsRoom, stateOf } from "./state.ts";
import type { HostStep } from "./step.ts";
import { planDeprovisioning, planPreparing } from "./wipe-stage.ts";

export const HOST_FINALIZER = "baremetalhost.metal3.io";
/** A deletion goes on after so many failed wipes; the failure is an event. */
const TRIES_BEFORE_DELETE = 3;
/** A deletion goes on after so long a wait, whatever it is for: an approval, an order of a user's. */
const LONGEST_DELETE_MS = 3 * 60 * 60_000;
const ROOM_MS = 5_000;
const RIVAL_MS = 30_000;

type Handler = (at: Facts) => HostStep;

const HANDLERS: Readonly<Record<HostState, Handler>> = {
  "": begin,
  unmanaged: planUnmanaged,
  registering: planRegistering,
  inspecting: working(planInspecting),
  preparing: working(planPreparing),
  available: planAvailable,
  provisioning: working(planProvisioning),
  provisioned: planProvisioned,
  "externally provisioned": planExternal,
  deprovisioning: working(planDeprovisioning),
  "powering off before delete": working(planPoweringOff),
  deleting: () => ({ do: "letGo", event: event("Deleted", "Host is no longer managed") }),
};

/** The next step for a host; the same again until it says `wait`. */
export function planHost(at: Facts): HostStep {
  const { metadata, status } = at.host;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const isHeld = metadata.finalizers?.includes(HOST_FINALIZER) === true;
  if (!isHeld) return { do: "hold" };
  const state = stateOf(at.host);
  if (state !== "" && hostAnnotations(at.host)[STATUS] !== undefined)
    return { do: "unannotate", annotations: [STATUS] };
  const leaving = isLeaving ? planLeaving(at, state) : undefined;
  if (leaving !== undefined) return leaving;
  if (isDetached(at.host, state)) return planDetached(at);
  if (at.rival !== undefined && takesMachine(at.host, state))
    return {
      do: "wait",
      forWhat: `${at.rival}, which has a card of the same machine, to be deleted or corrected`,
      recheckMs: RIVAL_MS,
    };
  if (status?.operationalStatus === "detached") return { do: "write", fields: recovered(at)! };
  return HANDLERS[state](at);
}

/** Whether the host's next step needs netboot. One that is let alone does not; one that is deleted is powered off without it, and at the latest once its wipe is given up. */
export function needsNetboot({ host, now }: Pick<Facts, "host" | "now">): boolean {
  if (isDetached(host, stateOf(host))) return false;
  if (host.metadata.deletionTimestamp === undefined) return true;
  if (stateOf(host) !== "deprovisioning") return false;
  return whyNotWiped({ host, now, rival: undefined }, host.status?.operation?.attempt ?? 1) === undefined;
}

/** Whether the host is let alone. Its work ends first, unless the annotation says otherwise. */
function isDetached(host: Facts["host"], state: HostState): boolean {
  if (hostAnnotations(host)[DETACHED] === undefined || state === "" || state === "deleting") return false;
  return !isWork(state) || isDetachedByForce(host);
}

/** Whether the host's next step in the state takes its machine, which may be another's. */
function takesMachine({ spec }: Facts["host"], state: HostState): boolean {
  return needsRoom(state) || (state === "unmanaged" && spec.bmc === undefined);
}

/** What a deletion changes of a host's way; undefined: its state ends by itself. */
function planLeaving(at: Facts, state: HostState): HostStep | undefined {
  const { operationalStatus, operation } = at.host.status ?? {};
  const isLetAlone = ["", "unmanaged", "registering", "externally provisioned"].includes(state);
  if (state === "deleting") return undefined;
  const isAlone = operationalStatus === "detached";
  if (detachedDelays(at.host) && (isAlone || !isWork(state)))
    return { do: "wait", forWhat: `the annotation ${DETACHED}, which delays the deletion, to be taken off` };
  if (state === "powering off before delete" && !isAlone) return undefined;
  if (isLetAlone || isAlone)
    return move(at, "deleting", event("DeletionStarted", "Host is deleted, and left as it is"));
  if (state === "provisioning" || state === "provisioned")
    return move(at, "deprovisioning", event("DeprovisioningStarted", "Host is deleted"));
  if (state === "deprovisioning") {
    const why = whyNotWiped(at, operation?.attempt ?? 1);
    if (why === undefined) return undefined;
    const message = `the host is deleted, and its disks could NOT be wiped ${why}`;
    return move(at, "powering off before delete", { type: "Warning", reason: "NotWiped", message });
  }
  return move(at, "powering off before delete", event("DeletionStarted", "Host is powered off"));
}

/** Why the wipe of a host that is deleted is given up; undefined: it goes on. */
function whyNotWiped({ host, rival, now }: Pick<Facts, "host" | "rival" | "now">, attempt: number): string | undefined {
  const { metadata, status } = host;
  // Who may write hosts in another namespace must not get a machine with its disks by naming it.
  if (rival?.startsWith(`${metadata.namespace}/`)) return `beside ${rival}`;
  if (attempt > TRIES_BEFORE_DELETE) return `in ${TRIES_BEFORE_DELETE} tries: ${status?.errorMessage}`;
  const begun = status?.operationHistory?.deprovision?.start ?? metadata.deletionTimestamp!;
  const since = Math.max(Date.parse(begun), Date.parse(metadata.deletionTimestamp!));
  if (now - since <= LONGEST_DELETE_MS) return undefined;
  return `in ${LONGEST_DELETE_MS / 3_600_000} hours; it waits for: ${status?.waitingFor ?? "its end"}`;
}

function planAvailable(at: Facts): HostStep {
  const { host } = at;
  if (host.spec.externallyProvisioned === true) return move(at, "externally provisioned");
  const asked = hostAnnotations(host)[INSPECT];
  if (asked !== undefined && asked !== "disabled")
    return move(at, "inspecting", event("InspectionStarted", "Hardware inspection started"));
  if (hostAnnotations(host)[WIPE] !== undefined) return move(at, "preparing", event("WipeStarted", "Wipe asked for"));
  if (!host.spec.online || !wantsInstalling(host)) return managePower(at);
  if (!at.hasRoom) return delayed(at);
  const { customDeploy, image } = host.spec;
  const method = customDeploy && { method: customDeploy.method };
  return move(at, "provisioning", event("ProvisioningStarted", `Installation started: ${wanted(host)}`), {
    lastAttemptedImage: image,
    operation: { attempt: 1, startedAt: isoTime(at.now), ...method },
  });
}

function planProvisioned(at: Facts): HostStep {
  const { host } = at;
  if (wantsInstalling(host) && !wantsOther(host, host.status?.provisioning ?? {}))
    return nextFromItsDisk(at) ?? managePower(at);
  if (!at.hasRoom) return delayed(at);
  return move(at, "deprovisioning", event("DeprovisioningStarted", "What was installed is removed"));
}

function planExternal(at: Facts): HostStep {
  if (at.host.spec.externallyProvisioned !== true) return move(at, "inspecting");
  return nextFromItsDisk(at) ?? managePower(at);
}

/** A machine that netboot has not met, installed by others or for another operator: its firmware may ask the network first, and would get the agent in the place of its system. */
function nextFromItsDisk(at: Facts): HostStep | undefined {
  const isNew = at.machine !== undefined && at.machine.session === undefined;
  return isNew ? leftToItsDisk(at) : undefined;
}

function planPoweringOff(at: Facts, operation: Operation): HostStep {
  if (operation.attempt <= TRIES_BEFORE_DELETE) return powerOff(at) ?? takeOutMedia(at) ?? move(at, "deleting");
  const because = `in ${TRIES_BEFORE_DELETE} tries: ${at.host.status?.errorMessage}`;
  const message = `the host is deleted, and could NOT be seen to be off, with nothing in its virtual drive, ${because}`;
  return move(at, "deleting", { type: "Warning", reason: "NotPoweredOff", message });
}

function planDetached(at: Facts): HostStep {
  if (at.host.status?.operationalStatus === "detached") return { do: "wait" };
  return { do: "write", fields: told(at, { operationalStatus: "detached", errorMessage: "", errorType: undefined }) };
}

/** A handler of work: with the operation that the status keeps, and not before a failed one may begin anew. */
function working(handler: (at: Facts, operation: Operation) => HostStep): Handler {
  return (at) => {
    const operation = at.host.status?.operation;
    if (operation === undefined) return { do: "write", fields: progressed(at, {}) };
    const rest = waitUntil(at, operation.againAt);
    if (rest !== undefined) return rest;
    return at.hasRoom || !needsRoom(stateOf(at.host)) ? handler(at, operation) : delayed(at);
  };
}

function delayed(at: Facts): HostStep {
  if (at.host.status?.operationalStatus !== "delayed")
    return { do: "write", fields: told(at, { operationalStatus: "delayed" }) };
  return { do: "wait", forWhat: "one of the hosts that are worked on to be done", recheckMs: ROOM_MS };
}
