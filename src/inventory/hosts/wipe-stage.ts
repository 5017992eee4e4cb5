/** Disks that are wiped, before a host is first available and after it was used; and what else must be over before it is another's. */
import { isoTime } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { openInstall } from "../../netboot/hosts/host.ts";
import type { Disk } from "../../netboot/protocol/messages.ts";
import { bringUpAgent } from "./agent-stage.ts";
import { hostAnnotations, WIPE } from "./annotations.ts";
import { type Facts, hasBegunSince, isInAgent, type Operation } from "./facts.ts";
import { endLive } from "./live-stage.ts";
import { event, move, progressed } from "./moves.ts";
import { carryOut, orderFailed } from "./order-stage.ts";
import { dropReboots, powerOff } from "./power-stage.ts";
import type { HostEvent, HostStep } from "./step.ts";
import { wipeProof } from "./wipe-proof.ts";

const REGISTER_MS = 5_000;
const BY = "/dev/disk/by-";
const LEFT = "its disks are left as they are: spec.automatedCleaningMode is disabled";

/** The next step of a host that is made ready to be used. */
export function planPreparing(at: Facts, operation: Operation): HostStep {
  const unsupported = unsupportedOf(at.host.spec);
  if (unsupported !== undefined) return orderFailed(at, unsupported);
  const wiped = wipe(at, operation);
  if ("do" in wiped) return wiped;
  if (hostAnnotations(at.host)[WIPE] !== undefined) return { do: "unannotate", annotations: [WIPE] };
  return move(at, "available", proofEvent("Prepared", wiped));
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
    return { do: "write", fields, event: proofEvent("DeprovisioningComplete", wiped) };
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

/** What is known of the disks, in words. */
interface Wiped {
  proof: string;
  /** Disks that are not there any more. */
  gone?: readonly string[];
}

function proofEvent(reason: string, { proof, gone = [] }: Wiped): HostEvent {
  if (gone.length === 0) return event(reason, proof);
  const message = `${proof}; NOT wiped, since they are not there any more: ${gone.join(", ")}`;
  return { type: "Warning", reason, message };
}

/** Disks that were there when the hardware was looked at last, and are not now: what is on them nobody has seen. Drives of CDs come and go. */
function goneFrom({ host: { status } }: Facts, known: readonly Disk[]): string[] {
  const serials = new Set(known.map(({ serial }) => serial));
  const names = new Set(
    known.flatMap(({ name, byId, byPath }) => [name, `${BY}path/${byPath}`, ...byId.map((id) => `${BY}id/${id}`)]),
  );
  return (status?.hardware?.storage ?? [])
    .filter(({ name, alternateNames = [] }) => ![name, ...alternateNames].some((each) => each?.startsWith("/dev/sr")))
    .filter(
      ({ name = "", serialNumber }) => !(serialNumber === undefined ? names.has(name) : serials.has(serialNumber)),
    )
    .map(({ name, serialNumber }) => (serialNumber === undefined ? `${name}` : `${name} (serial ${serialNumber})`));
}

/** The wipe of all disks; `proof`: what the agent has read back. */
function wipe(at: Facts, operation: Operation): HostStep | Wiped {
  if (at.host.spec.automatedCleaningMode === "disabled") return { proof: LEFT };
  const missing = bringUpAgent(at, operation);
  if (missing !== undefined) return missing;
  const next = carryOut(at, operation, "wipe");
  if ("do" in next) return next;
  const known = at.machine?.inventory?.disks;
  const proven = wipeProof(next.result, known);
  if ("problem" in proven) return orderFailed(at, proven.problem);
  return { ...proven, gone: goneFrom(at, known ?? []) };
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
