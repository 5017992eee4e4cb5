/** The power of hosts that have a BMC. */
import { type Fault, isFault, isoTime } from "@slipway/base";
import { takeOutMedia } from "./agent-media.ts";
import { type RebootWish, rebootAnnotations, rebootWish } from "./annotations.ts";
import { renewed } from "./credentials.ts";
import { type BmcView, type Facts, isInAgent } from "./facts.ts";
import { isLive } from "./live-stage.ts";
import { event, failed, progressed, recovered, told, waitForNews } from "./moves.ts";
import { stateOf } from "./state.ts";
import type { HostStep } from "./step.ts";

/** Between looks at the power of a host that nothing is done with. */
export const IDLE_LOOK_MS = 60_000;
const LOOK_MS = 5_000;
/** A system is given so long to end by itself before its power is cut. */
const SOFT_MS = 3 * 60_000;

/** Keeps the power of a host that nothing else is done with as its specification has it. */
export function managePower(at: Facts): HostStep {
  const { host, bmc } = at;
  if (bmc === undefined) return notePower(at, isInAgent(at) || host.status?.provisioning?.state !== "available");
  if (bmc.is === "fails") return notReached(at, bmc);
  if (bmc.power !== "on" && bmc.power !== "off") return switching(bmc.power);
  const ejecting = takeOutMedia(at);
  if (ejecting !== undefined) return ejecting;
  const isOn = bmc.power === "on";
  if (host.status?.poweredOn !== isOn) return notePower(at, isOn);
  return isOn ? whileOn(at) : whileOff(at);
}

/** What the annotations ask for; nothing but by force of a host on which nothing is provisioned, as with Metal3. */
function wishOf({ host }: Facts): RebootWish | undefined {
  return rebootWish(host, { byForce: stateOf(host) === "available" });
}

function whileOff(at: Facts): HostStep {
  const { spec } = at.host;
  const reboot = wishOf(at);
  const once = rebootWish(at.host)?.once ?? [];
  if (once.length > 0) return { do: "unannotate", annotations: once };
  if (!spec.online || reboot !== undefined) return settled(at, reboot);
  return {
    do: "power",
    action: "on",
    // BMCs forget what is in the drive, and some know no boot device but for once.
    ...(at.host.status?.provisioning?.state === "provisioned" && isLive(at.host) && { from: "media" as const }),
    announce: progressed(at, { poweredAt: isoTime(at.now) }),
    event: event("PowerOn", "Host powered on"),
  };
}

function whileOn(at: Facts): HostStep {
  const { spec, status } = at.host;
  const reboot = wishOf(at);
  if (spec.disablePowerOff === true) return reboot === undefined ? settled(at, reboot) : withoutPowerOff(at, reboot);
  if (spec.online && reboot === undefined) return settled(at, reboot);
  if (reboot?.mode === "hard" || hasNothingToEnd(at)) return cutPower(at);
  const askedAt = status?.operation?.poweredAt;
  if (askedAt !== undefined) {
    const deadline = Date.parse(askedAt) + SOFT_MS;
    if (at.now >= deadline) return cutPower(at);
    return { do: "wait", forWhat: "the host's system to end", recheckMs: LOOK_MS, deadline };
  }
  return {
    do: "power",
    action: "soft-off",
    announce: progressed(at, { poweredAt: isoTime(at.now) }),
    event: event("PowerOff", "Host's system asked to end"),
  };
}

/** Whether no system of a user's runs. Firmware and agent do not listen to the power button, and have nothing to save. */
function hasNothingToEnd(at: Facts): boolean {
  return stateOf(at.host) === "available" || isInAgent(at);
}

/** A host that must not be switched off is started anew in one go, and nobody can hold it off. */
function withoutPowerOff(at: Facts, { once }: RebootWish): HostStep {
  if (once.length === 0) return settled(at, undefined);
  const { poweredAt } = at.host.status?.operation ?? {};
  // Whoever announced it may not have lived to do it. What is done is forgotten once the annotation is off.
  if (poweredAt !== undefined && at.isStarted(poweredAt)) return { do: "unannotate", annotations: once };
  return {
    do: "power",
    action: "restart",
    announce: progressed(at, { poweredAt: isoTime(at.now) }),
    event: event("PowerOn", "Host restarted"),
  };
}

/** The host's work starts it, and ends what runs on it: a reboot that was asked for before is not made up for afterwards, as with Metal3. */
export function dropReboots({ host }: Facts): HostStep | undefined {
  const annotations = rebootAnnotations(host);
  return annotations.length === 0 ? undefined : { do: "unannotate", annotations };
}

function notePower(at: Facts, poweredOn: boolean): HostStep {
  if (at.host.status?.poweredOn === poweredOn) return settled(at, undefined);
  // What was asked of its power is done.
  return { do: "write", fields: told(at, { poweredOn, operation: undefined }) };
}

function switching(power: "turning-on" | "turning-off"): HostStep {
  return { do: "wait", forWhat: `the host's power, which is ${power}`, recheckMs: LOOK_MS };
}

function cutPower(at: Facts): HostStep {
  return {
    do: "power",
    action: "off",
    announce: progressed(at, { poweredAt: isoTime(at.now) }),
    event: event("PowerOff", "Host powered off"),
  };
}

/** Nothing is left to do. */
function settled(at: Facts, reboot: RebootWish | undefined): HostStep {
  const { status } = at.host;
  const fields = recovered(at) ?? renewed(at);
  if (fields !== undefined) return { do: "write", fields };
  if (status?.operation !== undefined) return { do: "write", fields: told(at, { operation: undefined }) };
  const held = reboot === undefined ? undefined : `the owners of ${reboot.held.join(", ")} to take them off`;
  return {
    do: "wait",
    ...(held !== undefined && { forWhat: held }),
    ...(at.bmc !== undefined && { recheckMs: IDLE_LOOK_MS }),
  };
}

function notReached(at: Facts, { fault }: Extract<BmcView, { is: "fails" }>): HostStep {
  const { status } = at.host;
  if (status?.errorMessage === fault.advice) return { do: "wait", forWhat: fault.advice, recheckMs: IDLE_LOOK_MS };
  const wait = waitForNews(at);
  if (wait !== undefined) return wait;
  const { error, reason } = errorOf(at, fault);
  return {
    do: "write",
    fields: failed(at, fault.advice, { error }),
    event: { type: "Warning", reason, message: fault.advice },
  };
}

/** A host that can't be registered again has another error than one whose BMC is silent, and one that is in use another than both, as with Metal3. */
function errorOf({ host: { status } }: Facts, fault: Fault) {
  const isKnown = status?.goodCredentials !== undefined;
  if (isKnown && !isFault(fault, "BadCredentials", "MissingInput", "Invalid"))
    return { error: "power management error", reason: "PowerManagementError" } as const;
  const state = status?.provisioning?.state;
  if (state === "provisioned" || state === "externally provisioned")
    return { error: "provisioned registration error", reason: "ProvisionedRegistrationError" } as const;
  return { error: "registration error", reason: "RegistrationError" } as const;
}

/** Until the BMC says that the host is off; undefined: it does, it has no BMC, or it may not be powered off. */
export function powerOff(at: Facts): HostStep | undefined {
  const { bmc, host } = at;
  if (bmc === undefined || host.spec.disablePowerOff === true) return undefined;
  if (bmc.is === "fails")
    return {
      do: "write",
      fields: failed(at, bmc.fault.advice, { error: "power management error" }),
      event: { type: "Warning", reason: "PowerManagementError", message: bmc.fault.advice },
    };
  if (bmc.power === "off") return undefined;
  return bmc.power === "turning-off" ? switching(bmc.power) : cutPower(at);
}
