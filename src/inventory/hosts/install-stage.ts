/** A host that gets a system: an image that the agent writes, or by an installer; then the machine starts from its disk. */
import { isoTime } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { takeOutMedia } from "./agent-media.ts";
import { bringUpAgent } from "./agent-stage.ts";
import { type Facts, isInAgent, type Operation, SILENT_MS } from "./facts.ts";
import { install } from "./installer-stage.ts";
import { isLive, startLive } from "./live-stage.ts";
import { event, move, progressed } from "./moves.ts";
import { carryOut, orderFailed } from "./order-stage.ts";
import { dropReboots } from "./power-stage.ts";
import type { HostStep, WriteStep } from "./step.ts";

const LOOK_MS = 5_000;

type Used = Pick<BareMetalHost["spec"], "image" | "customDeploy">;

/** Whether the specification asks for something to be installed. */
export function wantsInstalling({ spec }: Pick<BareMetalHost, "spec">): boolean {
  return (spec.image?.url ?? "") !== "" || spec.customDeploy !== undefined;
}

/** Whether another image or method is asked for than was used. */
export function wantsOther({ spec }: Pick<BareMetalHost, "spec">, { image, customDeploy }: Used): boolean {
  return spec.image?.url !== image?.url || spec.customDeploy?.method !== customDeploy?.method;
}

/** What is asked for, in a word. */
export function wanted({ spec }: Pick<BareMetalHost, "spec">): string {
  return spec.customDeploy?.method ?? spec.image?.url ?? "nothing";
}

/** The next step of an installation. */
export function planProvisioning(at: Facts, operation: Operation): HostStep {
  const { host } = at;
  const { method } = operation;
  const used = { image: host.status?.lastAttemptedImage, customDeploy: method === undefined ? undefined : { method } };
  if (!wantsInstalling(host) || wantsOther(host, used))
    return move(at, "deprovisioning", event("DeprovisioningStarted", "What is to be installed has changed"));
  const dropped = dropReboots(at);
  if (dropped !== undefined) return dropped;
  if (method !== undefined) return install(at, operation) ?? provisioned(at);
  if (isLive(host)) return takeOutMedia(at) ?? startLive(at, provisioned(at));
  if (operation.writtenAt === undefined) return write(at, operation);
  return at.bmc === undefined ? leaveByAgent(at, operation) : leaveByBmc(at, operation);
}

function write(at: Facts, operation: Operation): HostStep {
  const missing = bringUpAgent(at, operation);
  if (missing !== undefined) return missing;
  const next = carryOut(at, operation, "write");
  if ("do" in next) return next;
  if (!next.result.ok) return orderFailed(at, next.result.message);
  return { do: "write", fields: progressed(at, { writtenAt: isoTime(at.now), id: undefined }) };
}

function leaveByBmc(at: Facts, operation: Operation): HostStep {
  const { machine, bmc, now } = at;
  if (machine !== undefined && machine.boot !== "disk") return { do: "boot", from: "disk" };
  if (bmc?.is === "fails") return orderFailed(at, bmc.fault.advice);
  const restartedAt = operation.restartedAt === undefined ? undefined : Date.parse(operation.restartedAt);
  // Whoever restarted it did not live to say so. An agent that goes on speaking was not restarted.
  if (restartedAt !== undefined && bmc?.power === "on" && (machine?.session?.spokeAt ?? 0) <= restartedAt)
    return now - restartedAt > SILENT_MS
      ? provisioned(at)
      : { do: "wait", forWhat: "the agent on the host to be gone", recheckMs: LOOK_MS };
  return {
    do: "power",
    action: bmc?.power === "off" ? "on" : "restart",
    from: "disk",
    announce: progressed(at, { restartedAt: isoTime(now) }),
    event: event("PowerOn", "Host started from its disk"),
    done: provisioned(at),
  };
}

function leaveByAgent(at: Facts, operation: Operation): HostStep {
  const { machine } = at;
  if (machine !== undefined && machine.boot !== "disk") return { do: "boot", from: "disk" };
  if (!isInAgent(at)) return provisioned(at);
  const next = carryOut(at, operation, "reboot");
  if ("do" in next) return next;
  return next.result.ok ? provisioned(at) : orderFailed(at, next.result.message);
}

function provisioned(at: Facts): WriteStep {
  const { image, customDeploy, rootDeviceHints, bootMode } = at.host.spec;
  return move(at, "provisioned", event("ProvisioningComplete", `Installed: ${wanted(at.host)}`), {
    provisioning: { state: "", ID: at.host.metadata.uid ?? "", image, customDeploy, rootDeviceHints, bootMode },
    poweredOn: true,
  });
}
