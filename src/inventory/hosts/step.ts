/** The one next step for a host. Each but a wait is written down on the object before it is done, and is safe to repeat. */

import type { StatusFields } from "@slipway/kube";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import type { BootAction } from "../../netboot/hosts/host.ts";

export interface HostEvent {
  type: "Normal" | "Warning";
  reason: string;
  message: string;
}

export type Fields = StatusFields<BareMetalHost>;

/** Orders to an agent, by the operation they are part of. */
export type OrderName = "inspect" | "wipe" | "write" | "reboot";

export interface WriteStep {
  do: "write";
  fields: Fields;
  event?: HostEvent;
}

export type HostStep =
  /** Puts the finalizer on. */
  | { do: "hold" }
  /** Takes the finalizer off. */
  | { do: "letGo"; event: HostEvent }
  | WriteStep
  /** By the BMC, seen to have its effect. `from`: what the machine starts from next. `done`: what is written down when it has. */
  | {
      do: "power";
      action: "on" | "off" | "soft-off" | "restart";
      from?: "network" | "disk" | "media";
      announce: Fields;
      event: HostEvent;
      done?: WriteStep;
    }
  /** Takes what is in the machine's virtual drive out, and lets it boot as its firmware has it. */
  | { do: "eject"; announce: Fields; done: WriteStep }
  /** What the boot service has the machine boot from now on. */
  | { do: "boot"; from: BootAction }
  /** Has the agent do it; asked for twice with one id, it is done once. */
  | { do: "order"; name: OrderName; id: string; announce: Fields }
  /** Has the boot service offer the installer; offered twice with one id, it is installed once. */
  | { do: "install"; id: string; announce: Fields }
  /** The installation is over, though the machine reported nothing. */
  | { do: "endInstall"; id: string; result: { ok: boolean; message: string } }
  /** Writes what the agent found to the host and its HardwareData, or in its place `hardware`. */
  | { do: "describe"; hardware?: HardwareDetails }
  /** Writes what the BMC shows of the firmware's settings to the host's HostFirmwareSettings. A host is inspected without them, too. */
  | { do: "firmware" }
  /** Takes annotations off. */
  | { do: "unannotate"; annotations: readonly string[] }
  /** `forWhat`: undefined where nothing is missing. */
  | { do: "wait"; forWhat?: string; recheckMs?: number; deadline?: number };
