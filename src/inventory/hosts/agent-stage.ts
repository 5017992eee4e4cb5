import { type Fault, isFault, isoTime } from "@slipway/base";
import { waitFor } from "@slipway/kube";
import type { Standing } from "../../netboot/hosts/trust.ts";
import { bootsBy } from "../bmc/address.ts";
import { noteMedia, startsFromMedia, takeOutMedia } from "./agent-media.ts";
import { untilApproved } from "./approval.ts";
import { type Facts, hasBegunSince, isInAgent, type Operation, SILENT_MS } from "./facts.ts";
import { failed, progressed } from "./moves.ts";
import type { HostStep } from "./step.ts";

/** From power-on to the agent's first report; servers check their memory for minutes. */
export const AGENT_MS = 20 * 60_000;
/** A machine that is still off so long after it was started was not. */
export const OFF_AGAIN_MS = 60_000;
/** So long after a start that a process which has died may not have made, it is made again. */
const UNSURE_MS = 5 * 60_000;
/** A person may be needed to start a machine without a BMC; nobody is at the rack all the time. */
const PERSON_MS = 60 * 60_000;
const LOOK_MS = 5_000;
/** An approval wakes the host, too. */
const APPROVAL_MS = 5 * 60_000;
const REGISTERS = "the agent on the host to register";

/** What is left to do until Slipway's agent runs on the machine; undefined: it does. */
export function bringUpAgent(at: Facts, operation: Operation): HostStep | undefined {
  const { machine, bmc, standing } = at;
  if (standing?.lacks === "bmc") return startBehindBmc(at, operation, standing);
  // What is to be approved may be known by an agent alone.
  const isShown = isInAgent(at) || standing?.lacks === undefined;
  if (machine !== undefined && standing?.trust === "discovered" && isShown)
    return { do: "wait", forWhat: untilApproved(standing), recheckMs: APPROVAL_MS };
  // Else the machine would leave it at its next start.
  if (machine !== undefined && machine.boot !== "agent") return { do: "boot", from: "agent" };
  if (isInAgent(at)) return takeOutUsed(at);
  if (bmc === undefined) return waitForPerson(at, operation);
  if (bmc.is === "fails") return withoutAnswer(at, operation, bmc.fault);
  return startAgent(at, operation, bmc.power === "off");
}

/** The agent has come from its CD: that is not needed any more. */
function takeOutUsed(at: Facts): HostStep | undefined {
  const { agentMediaAt } = at.host.status ?? {};
  return agentMediaAt !== undefined && hasBegunSince(at, Date.parse(agentMediaAt)) ? takeOutMedia(at) : undefined;
}

/** The machine is known to be this host's by a boot alone that its BMC is asked for, whatever runs on it now. */
function startBehindBmc(at: Facts, operation: Operation, { because }: Standing): HostStep {
  const { machine, bmc, host } = at;
  if (bmc === undefined || !(startsFromMedia(host) || bootsBy(host.spec.bmc!.address) === "uefi-http")) {
    const forWhat = `spec.bmc with an address of redfish-uefihttp or for virtual media, by which the host can be started: ${because}`;
    return { do: "wait", forWhat, recheckMs: APPROVAL_MS };
  }
  if (bmc.is === "fails") return withoutAnswer(at, operation, bmc.fault);
  if (machine !== undefined && machine.boot !== "agent") return { do: "boot", from: "agent" };
  if (operation.poweredAt !== undefined && hasBegunSince(at, Date.parse(operation.poweredAt))) {
    // The process that knew the value has died.
    if (!at.isStarted(operation.poweredAt)) return start(at, bmc.power === "off");
    const message = `the host was started by its BMC, and its agent came otherwise: ${because}`;
    return { do: "write", fields: failed(at, message), event: failure(message) };
  }
  return startAgent(at, operation, bmc.power === "off");
}

/** A machine that was started comes by itself: that its BMC does not answer meanwhile is no reason to start it once more. */
function withoutAnswer(at: Facts, { poweredAt }: Operation, fault: Fault): HostStep {
  const deadline = poweredAt === undefined ? 0 : Date.parse(poweredAt) + AGENT_MS;
  if (at.now < deadline && isFault(fault, "Unavailable", "Timeout", "LostAnswer", "Throttled"))
    return { do: "wait", forWhat: `${REGISTERS}; its BMC does not answer meanwhile`, recheckMs: LOOK_MS, deadline };
  return { do: "write", fields: failed(at, fault.advice), event: failure(fault.advice) };
}

function startAgent(at: Facts, operation: Operation, isOff: boolean): HostStep {
  const { now, machine } = at;
  const started = operation.poweredAt === undefined ? undefined : Date.parse(operation.poweredAt);
  // It came, and has gone: its power was cut, or it hangs.
  const isLost = started !== undefined && hasBegunSince(at, started) && (machine?.session?.spokeAt ?? 0) > started;
  const isStillOff = isOff && started !== undefined && now - started > OFF_AGAIN_MS;
  const isUnsure = started !== undefined && now - started > UNSURE_MS && !at.isStarted(operation.poweredAt!);
  if (started === undefined || isLost || isStillOff || isUnsure) return start(at, isOff);
  const deadline = started + AGENT_MS;
  if (now < deadline) return { do: "wait", forWhat: REGISTERS, recheckMs: LOOK_MS, deadline };
  const message = `no agent has registered ${AGENT_MS / 60_000} minutes after the host was started from the network: its console shows what it starts instead`;
  return { do: "write", fields: failed(at, message), event: failure(message) };
}

function start(at: Facts, isOff: boolean): HostStep {
  const { now } = at;
  return {
    do: "power",
    action: isOff ? "on" : "restart",
    from: "network",
    announce: progressed(
      at,
      { poweredAt: isoTime(now) },
      { ...noteMedia(at), ...waitFor(at.host.status, { what: REGISTERS, deadline: now + AGENT_MS, now }) },
    ),
    event: { type: "Normal", reason: "PowerOn", message: "Host started from the network, into Slipway's agent" },
  };
}

function waitForPerson(at: Facts, operation: Operation): HostStep {
  const deadline = Date.parse(operation.startedAt) + PERSON_MS;
  if (at.now >= deadline) {
    const message = "nobody has started the machine from the network for an hour, and it has no BMC";
    return { do: "write", fields: failed(at, message), event: failure(message) };
  }
  const forWhat = "somebody to start the machine from the network: it has no BMC";
  // An agent that was thought to have left may speak.
  return { do: "wait", forWhat, recheckMs: Math.min(deadline - at.now, SILENT_MS), deadline };
}

function failure(message: string) {
  return { type: "Warning" as const, reason: "AgentNotReached", message };
}
