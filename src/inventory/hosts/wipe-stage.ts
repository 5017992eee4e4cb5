/** Disks that are wiped, before a host is first available and after it was used; and what else must be over before it is another's. */
import { isoTime } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { openInstall } from "../../netboot/hosts/host.ts";
import { bringUpAgent } from "./agent-stage.ts";
import { hostAnnotations, WIPE } from "./annotations.ts";
import { type Facts, hasBegunSince, isInAgent, type Operation } from "./facts.ts";
import { endLive } from "./live-stage.ts";
import { event, move, progressed } from "./moves.ts";
import { carryOut, orderFailed } from "./order-stage.ts";
import { dropReboots, powerOff } from "./power-stage.ts";
import type { HostStep } from "./step.ts";

const REGISTER_MS = 5_000;
const LEFT = "its disks are left as they are: spec.automatedCleaningMode is disabled";

/** The next step of a host that is made ready to be used. */
export function planPreparing(at: Facts, operation: Operation): HostStep {
  const unsupported = unsupportedOf(at.host.spec);
  if (unsupported !== undefined) return orderFailed(at, unsupported);
  const wiped = wipe(at, operation);
  if ("do" in wiped) return wiped;
  if (hostAnnotations(at.host)[WIPE] !== undefined) return { do: "unannotate", annotations: [WIPE] };
  return move(at, "available", event("Prepared", wiped.proof));
}

/** The next step of a host that is taken back from its user. */
export function planDeprovisioning(at: Facts, operation: Operation): HostStep {
  const { host, machine } = at;
  // However it leaves this state, it must not start the installer of its last user.
  if (machine !== undefined && openInstall(machine) !== undefined) return { do: "boot", from: "agent" };
  const dropped = dropReboots(at);
  if (dropped !== undefined) return dropped;
  const ejecting = endLive(at, operation);
  if (ejecting !== undefined) return ejecting;
  if (operation.writtenAt === undefined) {
    const wiped = wipe(at, operation);
    if ("do" in wiped) return wiped;
    const fields = progressed(at, { writtenAt: isoTime(at.now), id: undefined });
    return { do: "write", fields, event: event("DeprovisioningComplete", wiped.proof) };
  }
  const nothing = { image: undefined, customDeploy: undefined, rootDeviceHints: undefined };
  const provisioning = { state: "", ID: host.metadata.uid ?? "", ...host.status?.provisioning, ...nothing };
  if (host.metadata.deletionTimestamp !== undefined)
    return move(at, "powering off before delete", undefined, { provisioning });
  return endWhatRan(at, operation) ?? move(at, "available", undefined, { provisioning });
}

/** What can't be done to a host before it is available. */
function unsupportedOf({ raid, firmware }: BareMetalHost["spec"]): string | undefined {
  const volumes = [...(raid?.hardwareRAIDVolumes ?? []), ...(raid?.softwareRAIDVolumes ?? [])];
  if (volumes.length > 0)
    return "spec.raid: Slipway makes no RAID volumes; take them out, or make them by the controller's own tool";
  if (firmware !== undefined && Object.keys(firmware).length > 0)
    return "spec.firmware: Slipway changes no firmware settings; take them out";
  return undefined;
}

/** The wipe of all disks; `proof`: what the agent has read back, in words. */
function wipe(at: Facts, operation: Operation): HostStep | { proof: string } {
  if (at.host.spec.automatedCleaningMode === "disabled") return { proof: LEFT };
  const missing = bringUpAgent(at, operation);
  if (missing !== undefined) return missing;
  const next = carryOut(at, operation, "wipe");
  if ("do" in next) return next;
  const { ok, message, disks = [] } = next.result;
  if (!ok) return orderFailed(at, `the disks are not wiped: ${message}`);
  const known = at.machine?.inventory?.disks;
  if (known === undefined) return orderFailed(at, "the disks are not wiped: its agent has not reported which it has");
  const wiped = new Set(disks.filter((each) => each.proven).map(({ disk }) => disk));
  const left = known.filter(({ name, readOnly }) => !readOnly && !wiped.has(name));
  if (left.length > 0 || wiped.size < disks.length)
    return orderFailed(at, `the disks are not wiped: nothing is proven of ${left.map(({ name }) => name).join(", ")}`);
  const proven = disks.map(({ disk, how }) => `${disk} (${how})`).join(", ");
  return { proof: `wiped, and read back: ${proven || "no disks"}` };
}

/**
 * Before a host gets another consumer, nothing of what ran may be left in its memory: it is powered off, and seen to be off; without a BMC
 * it starts anew into the agent, which registers anew. Undefined: that is done.
 */
function endWhatRan(at: Facts, operation: Operation): HostStep | undefined {
  if (at.bmc !== undefined) return powerOff(at);
  if (hasBegunSince(at, Date.parse(operation.writtenAt!))) return undefined;
  if (!isInAgent(at)) return bringUpAgent(at, operation);
  const next = carryOut(at, operation, "reboot");
  if ("do" in next) return next;
  if (!next.result.ok) return orderFailed(at, next.result.message);
  return { do: "wait", forWhat: "the agent to register after its restart", recheckMs: REGISTER_MS };
}
