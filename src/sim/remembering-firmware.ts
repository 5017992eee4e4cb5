import type { Clock } from "@slipway/base";
import type { Firmware, Hardware, Powered, Progress } from "./hardware.ts";

/** Stages of a boot, one every `STAGE_MS`. */
export const STAGE_MS = 10_000;
const NETWORK = ["dhcp", "script", "kernel", "installing", "installed", "joined"] as const;

export interface RememberingFirmware extends Firmware {
  /** Every boot so far, oldest first. */
  readonly boots: { hostname: string; from: "network" | "disk" }[];
  /** Installed systems by hardware id. */
  readonly disks: Map<string, unknown>;
}

/** For tests: firmware whose machines install something, that knows what is on each disk, and that starts no empty one. */
export function rememberingFirmware(clock: Clock): RememberingFirmware {
  const boots: RememberingFirmware["boots"] = [];
  const disks = new Map<string, unknown>();

  const run = (
    stages: readonly Progress["stage"][],
    hardware: Hardware,
    progress: (now: Progress) => void,
  ): Powered => {
    const timers = stages.map((stage, i) =>
      clock.after((i + 1) * STAGE_MS, () => {
        if (stage === "installed") disks.set(hardware.id, { installed: hardware.hostname });
        progress({ stage, message: `reached ${stage}` });
      }),
    );
    return {
      off() {
        for (const timer of timers) timer.cancel();
      },
    };
  };

  return {
    boots,
    disks,
    fromNetwork(hardware, _boot, progress) {
      boots.push({ hostname: hardware.hostname, from: "network" });
      return run(NETWORK, hardware, progress);
    },
    fromDisk(hardware, progress) {
      boots.push({ hostname: hardware.hostname, from: "disk" });
      return run([disks.has(hardware.id) ? "joined" : "failed"], hardware, progress);
    },
    wipe: (hardware) => void disks.delete(hardware.id),
    remember: (hardware) => disks.get(hardware.id),
    recall: (hardware, disk) => void disks.set(hardware.id, disk),
  };
}
