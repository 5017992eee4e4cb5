/** A machine without a management controller of its own, as Slipway's Redfish service needs it. */
import type { Mac } from "@slipway/base";

export type ResetType = "On" | "ForceOff" | "GracefulShutdown" | "ForceRestart" | "GracefulRestart";
export type PowerState = "On" | "Off" | "PoweringOn" | "PoweringOff";
export type BootTarget = "None" | "Pxe" | "Hdd" | "Cd" | "UefiHttp";

/** What it boots from next. `Disabled`: the order of its firmware. */
export interface BootOverride {
  enabled: "Once" | "Continuous" | "Disabled";
  target: BootTarget;
  mode: "UEFI" | "Legacy";
  httpBootUri?: string;
}

/** Whether the machine can be told what to boot by HTTP. */
export function takesBootUri({
  bootTargets,
  takesBootUri = true,
}: Pick<ManagedMachine, "bootTargets" | "takesBootUri">): boolean {
  return takesBootUri && bootTargets.includes("UefiHttp");
}

export interface ManagedMachine {
  /** Names the machine in paths: letters, digits and dashes. Its UUID, as a rule. */
  readonly id: string;
  readonly name: string;
  /** SMBIOS UUID, lower case. */
  readonly uuid: string;
  readonly manufacturer: string;
  readonly model: string;
  readonly serial: string;
  readonly macs: readonly Mac[];
  readonly memoryMiB?: number;
  readonly processors?: number;
  /** What its firmware can be told. `None` is always possible. */
  readonly bootTargets: readonly BootTarget[];
  readonly bootModes: readonly BootOverride["mode"][];
  /** Whether UEFI HTTP boot takes an address from here, beside the one that DHCP gives. Default: true. */
  readonly takesBootUri?: boolean;
  power(): PowerState;
  /** Resolves when the machine is as wanted. Rejects with a `Fault`. */
  reset(type: ResetType): Promise<void>;
  boot(): BootOverride;
  setBoot(override: BootOverride): Promise<void>;
  /** Address of the image in its CD drive. Undefined: the drive is empty. */
  media(): string | undefined;
  /** Resolves when the image can be booted from. Null ejects it. */
  setMedia(url: string | null): Promise<void>;
}
