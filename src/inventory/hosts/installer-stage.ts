/** A host that is installed by what it starts from the network once: an installer by a profile, or a script of the user's own. */
import { isoTime } from "@slipway/base";
import { waitFor } from "@slipway/kube";
import { type GivenInstall, openOrder } from "../../netboot/hosts/host.ts";
import { noteMedia } from "./agent-media.ts";
import { AGENT_MS, bringUpAgent, OFF_AGAIN_MS } from "./agent-stage.ts";
import { untilApproved } from "./approval.ts";
import { type Facts, type Operation, SILENT_MS } from "./facts.ts";
import { event, failed, progressed } from "./moves.ts";
import { carryOut, orderFailed } from "./order-stage.ts";
import type { HostStep } from "./step.ts";

/** An installation from slow mirrors to slow disks. */
const INSTALL_MS = 2 * 60 * 60_000;
/** From the start until the first file is fetched: kernel and initrd, and with some a whole ISO, go before. */
const FETCH_MS = 30 * 60_000;
/** A machine that has asked for nothing for so long has left its loader. */
const LEFT_MS = 60_000;
const LOOK_MS = 5_000;
const APPROVAL_MS = 5 * 60_000;
const STARTS = "the machine to start its installer from the network";

/** The next step of an installation from the network; undefined: it has ended well. */
export function install(at: Facts, operation: Operation): HostStep | undefined {
  const { machine } = at;
  const { install: id } = operation;
  if (id === undefined) return begin(at, operation);
  const given = machine?.install;
  if (given?.id === id && given.result !== undefined)
    return given.result.ok ? undefined : installFailed(at, given.result.message);
  // Whoever announced it did not live to offer it, or what was offered is offered again by another process.
  if (given?.id !== id || !at.isOffered(id)) return approval(at) ?? { do: "install", id, announce: progressed(at, {}) };
  return given.servedAt === undefined ? start(at, operation) : waitForEnd(at, given);
}

function begin(at: Facts, operation: Operation): HostStep {
  // Its disks are to be known; and without a BMC only the agent can restart it.
  const isKnown = at.machine?.inventory !== undefined && at.bmc !== undefined;
  const missing = approval(at) ?? rest(at) ?? (isKnown ? undefined : bringUpAgent(at, operation));
  if (missing !== undefined) return missing;
  const { newId, now } = at;
  const waiting = waitFor(at.host.status, { what: STARTS, deadline: now + AGENT_MS, now });
  const announce = progressed(at, { install: newId, orderedAt: isoTime(now), restartedAt: undefined }, waiting);
  return { do: "install", id: newId, announce };
}

/** The machine is not to be restarted while it does what a user said. */
function rest({ machine }: Facts): HostStep | undefined {
  const other = machine && openOrder(machine);
  if (other === undefined) return undefined;
  return { do: "wait", forWhat: `the order "${other.is.order}" to end, which a user gave`, recheckMs: APPROVAL_MS };
}

function approval({ machine, standing }: Facts): HostStep | undefined {
  if (machine === undefined || standing?.trust !== "discovered") return undefined;
  return { do: "wait", forWhat: untilApproved(standing), recheckMs: APPROVAL_MS };
}

/** The machine is to start from the network: by its BMC, by its agent, or by whoever starts it. */
function start(at: Facts, operation: Operation): HostStep {
  const { now } = at;
  const since = Date.parse(operation.restartedAt ?? operation.orderedAt ?? operation.startedAt);
  const deadline = since + AGENT_MS;
  if (now >= deadline)
    return installFailed(at, `the machine has not asked for its installer in ${AGENT_MS / 60_000} minutes`);
  if (at.bmc !== undefined)
    return byBmc(at, operation) ?? { do: "wait", forWhat: STARTS, recheckMs: LOOK_MS, deadline };
  const next = carryOut(at, operation, "reboot");
  if ("do" in next) return next;
  if (!next.result.ok) return orderFailed(at, next.result.message);
  return { do: "wait", forWhat: STARTS, recheckMs: LOOK_MS, deadline };
}

/** Undefined: it was restarted. */
function byBmc(at: Facts, { restartedAt }: Operation): HostStep | undefined {
  const { bmc, machine, now } = at;
  if (bmc?.is === "fails") return orderFailed(at, bmc.fault.advice);
  const began = restartedAt === undefined ? undefined : Date.parse(restartedAt);
  // Whoever restarted it did not live to do it: its agent goes on speaking, or it is still off.
  const isUntouched =
    began !== undefined &&
    now - began > OFF_AGAIN_MS &&
    (bmc?.power === "off" || (machine?.session?.spokeAt ?? 0) > began + OFF_AGAIN_MS / 2);
  if (began !== undefined && !isUntouched) return undefined;
  return {
    do: "power",
    action: bmc?.power === "off" ? "on" : "restart",
    from: "network",
    announce: progressed(at, { restartedAt: isoTime(now) }, noteMedia(at)),
    event: event("PowerOn", "Host started from the network, into its installer"),
  };
}

function waitForEnd(at: Facts, given: GivenInstall): HostStep {
  const { now } = at;
  const { id, reports, hasFiles, servedAt = now, servedLastAt = servedAt, fetched = {} } = given;
  const isRunning = !hasFiles || Object.keys(fetched).length > 0;
  const deadline = servedAt + (isRunning ? INSTALL_MS : FETCH_MS);
  if (now >= deadline) return installFailed(at, isRunning ? UNREPORTED : `${UNFETCHED}${loops(given, now)}`);
  if (!reports && isRunning) {
    const left = servedLastAt + LEFT_MS;
    if (now < left) return { do: "wait", forWhat: "the machine to go on by its script", recheckMs: left - now };
    return { do: "endInstall", id, result: { ok: true, message: "it was given its script, and went on by it" } };
  }
  const forWhat = isRunning ? "the installer to report its end" : "the installer to fetch its files";
  return { do: "wait", forWhat, recheckMs: Math.min(deadline - now, SILENT_MS), deadline };
}

const UNREPORTED = `no end of the installation was reported in ${INSTALL_MS / 3_600_000} hours`;
const UNFETCHED = `the installer has fetched none of its files in ${FETCH_MS / 60_000} minutes`;

function loops({ servedLastAt = 0 }: GivenInstall, now: number): string {
  return now - servedLastAt > LEFT_MS ? "" : ": its loader tries again and again; can it fetch kernel and initrd?";
}

function installFailed(at: Facts, message: string): HostStep {
  return {
    do: "write",
    fields: failed(at, message),
    event: { type: "Warning", reason: "InstallationFailed", message },
  };
}
