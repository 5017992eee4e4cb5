/** A host that becomes known: whether it can be managed, its BMC and its hardware. */

import { bringUpAgent } from "./agent-stage.ts";
import { hostAnnotations, INSPECT } from "./annotations.ts";
import { untilApproved } from "./approval.ts";
import { good, tried } from "./credentials.ts";
import { type BmcView, type Facts, isInAgent, type Operation } from "./facts.ts";
import { takeOverHardware, takeOverStatus } from "./handed-over.ts";
import { enter, event, failed, move, waitForNews, waitUntil } from "./moves.ts";
import { carryOut, orderFailed } from "./order-stage.ts";
import type { Fields, HostEvent, HostStep } from "./step.ts";

/** The next step of a host that nothing was done with yet. */
export function begin(at: Facts): HostStep {
  const taken = takeOverStatus(at);
  if (taken !== undefined) return taken;
  if (at.host.spec.bmc === undefined && !isKnownMachine(at)) return { do: "write", fields: enter(at, "unmanaged") };
  return move(at, "registering");
}

/** The next step of a host that nothing can be done with yet. */
export function planUnmanaged(at: Facts): HostStep {
  const { host, machine, standing } = at;
  if (host.spec.bmc !== undefined || isKnownMachine(at)) return move(at, "registering");
  const left = host.spec.externallyProvisioned === true && machine?.session === undefined && leftToItsDisk(at);
  if (left) return left;
  const forWhat =
    machine?.session === undefined
      ? "spec.bmc, or the machine to start from the network into Slipway's agent"
      : untilApproved(standing ?? { because: "it is neither declared nor approved" });
  return { do: "wait", forWhat };
}

/** The next step of a host whose BMC, or agent, is met for the first time. */
export function planRegistering(at: Facts): HostStep {
  const { host, bmc } = at;
  if (bmc?.is === "fails") return refused(at, bmc);
  const { externallyProvisioned, inspectionMode, bootMACAddress } = host.spec;
  if (bootMACAddress === undefined && at.machine === undefined && externallyProvisioned !== true) {
    const named = bmc === undefined || bmc.macs.length === 0 ? "" : `: the BMC names ${bmc.macs.join(", ")}`;
    return missing(at, `spec.bootMACAddress says which machine it is on the network, and is not set${named}`);
  }
  const registered = event("Registered", bmc === undefined ? "Registered by its agent" : "Registered by its BMC");
  const more = {
    ...(bmc !== undefined && good(at, bmc.credentials)),
    poweredOn: bmc === undefined ? isInAgent(at) : bmc.power === "on",
    provisioning: { state: "", ID: host.metadata.uid ?? "" },
  };
  if (externallyProvisioned === true) return takeAsInstalled(at, registered, more);
  const brought = takeOverHardware(at);
  const isLookedAt = inspectionMode !== "disabled" && hostAnnotations(host)[INSPECT] !== "disabled";
  if (!isLookedAt && brought !== undefined) return brought;
  return move(at, isLookedAt ? "inspecting" : "preparing", registered, more);
}

/** Has the machine of a system that others have installed go on to its disk when it asks the network; undefined: it does, or is another host's, too. */
export function leftToItsDisk({ machine, rival }: Facts): HostStep | undefined {
  if (machine?.boot !== "agent" || rival !== undefined) return undefined;
  return { do: "boot", from: "disk" };
}

/** The next step of a host whose hardware is looked at. */
export function planInspecting(at: Facts, operation: Operation): HostStep {
  const missing = bringUpAgent(at, operation);
  if (missing !== undefined) return missing;
  // What it was before may be what it is now; only the agent knows.
  if ((at.machine?.inventoryAt ?? 0) < Date.parse(operation.startedAt) && at.host.status?.hardware !== undefined) {
    const next = carryOut(at, operation, "inspect");
    if ("do" in next) return next;
    if (!next.result.ok) return orderFailed(at, next.result.message);
  }
  if (!at.isDescribed) return { do: "describe" };
  if (at.bmc?.is === "answers" && !at.isFirmwareRead) return { do: "firmware" };
  if (hostAnnotations(at.host)[INSPECT] !== undefined) return { do: "unannotate", annotations: [INSPECT] };
  return move(at, "preparing", event("InspectionComplete", "Hardware inspection completed"));
}

function takeAsInstalled(at: Facts, what: HostEvent, more: Fields): HostStep {
  return leftToItsDisk(at) ?? move(at, "externally provisioned", what, more);
}

/** Without a BMC, a host is managed as soon as Slipway's agent speaks for it and may be given orders, and it is nobody else's. */
function isKnownMachine({ machine, standing, rival }: Facts): boolean {
  if (rival !== undefined) return false;
  return machine?.inventory !== undefined && standing !== undefined && standing.trust !== "discovered";
}

function refused(at: Facts, { fault, credentials: version }: Extract<BmcView, { is: "fails" }>): HostStep {
  const { operation, errorMessage } = at.host.status ?? {};
  // Another reason than last time is reported soon.
  const wait = errorMessage === fault.advice ? waitUntil(at, operation?.againAt) : waitForNews(at);
  if (wait !== undefined) return wait;
  return {
    do: "write",
    fields: failed(at, fault.advice, version === undefined ? {} : tried(at, version)),
    event: { type: "Warning", reason: "RegistrationError", message: fault.advice },
  };
}

function missing(at: Facts, message: string): HostStep {
  const { operation, errorMessage } = at.host.status ?? {};
  const wait = errorMessage === message ? waitUntil(at, operation?.againAt) : waitForNews(at);
  if (wait !== undefined) return wait;
  const event = { type: "Warning" as const, reason: "RegistrationError", message };
  return { do: "write", fields: failed(at, message), event };
}
