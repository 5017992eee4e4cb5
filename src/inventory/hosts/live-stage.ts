/** A host that runs an image from its virtual drive (`format: live-iso`): nothing is written, and no agent is needed. */
import { isoTime } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { Facts, Operation } from "./facts.ts";
import { event, progressed } from "./moves.ts";
import { orderFailed } from "./order-stage.ts";
import type { HostStep, WriteStep } from "./step.ts";

const SWITCHING_MS = 5_000;

/** Whether the host's image is to run from its virtual drive. */
export function isLive({ spec }: Pick<BareMetalHost, "spec">): boolean {
  return spec.customDeploy === undefined && spec.image?.format === "live-iso";
}

/** The next step of a host that is to run its image. Until `done` is written it is done again. */
export function startLive(at: Facts, done: WriteStep): HostStep {
  const { bmc, host, now } = at;
  if (bmc === undefined)
    return orderFailed(at, "spec.image.format: live-iso is started by a BMC, and the host has none");
  if (!/^https?:\/\//.test(host.spec.image!.url))
    return orderFailed(at, "spec.image.url: a BMC fetches by http and https only");
  if (bmc.is === "fails") return orderFailed(at, bmc.fault.advice);
  if (bmc.power !== "on" && bmc.power !== "off")
    return { do: "wait", forWhat: `the host's power, which is ${bmc.power}`, recheckMs: SWITCHING_MS };
  return {
    do: "power",
    action: bmc.power === "off" ? "on" : "restart",
    from: "media",
    announce: progressed(at, { restartedAt: isoTime(now) }),
    event: event("PowerOn", "Host started from its virtual drive"),
    done,
  };
}

/** Before anything else is started on a host that had an image in its virtual drive, that is taken out. Undefined: it is, or had none. */
export function endLive(at: Facts, { ejectedAt }: Operation): HostStep | undefined {
  const { host, bmc, now } = at;
  if (bmc === undefined || ejectedAt !== undefined || host.status?.lastAttemptedImage?.format !== "live-iso")
    return undefined;
  const done = { do: "write", fields: progressed(at, { ejectedAt: isoTime(now) }) } as const;
  return { do: "eject", announce: progressed(at, {}), done };
}
