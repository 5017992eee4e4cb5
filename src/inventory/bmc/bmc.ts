/**
 * A management controller (BMC) as the engine of own hardware sees it: power, boot device, virtual media and identity of one machine.
 *
 * An answer of a BMC is not believed: every call that changes something reads back until the change is seen, and fails with `NoEffect`
 * when it is not seen in time. What is already as wanted is left alone, so every call may be repeated. Calls fail with a `Fault`:
 *
 * | code | meaning |
 * | --- | --- |
 * | `Unavailable`, `LostAnswer`, `Throttled` | the BMC is not reached, is busy, or its answer did not come |
 * | `BadCredentials` | it refuses user name and password |
 * | `UntrustedCertificate` | its certificate is not signed by a trusted authority, or is for another name |
 * | `Unsupported` | it can't do this |
 * | `NotFound` | it has no such machine |
 * | `Invalid` | address or argument are wrong, or it has several machines and the address names none |
 * | `Conflict` | it answers for another machine than the expected one |
 * | `NoEffect` | it took the order, and nothing changed |
 *
 * A caller that gives up by its signal gets the signal's reason. `bmcs.ts` opens a BMC; `testing.ts` has simulated ones for tests.
 * It must not know of Kubernetes objects.
 */
import type { Mac } from "@slipway/base";

export type PowerState = "on" | "off" | "turning-on" | "turning-off";

/**
 * `soft-off` asks the operating system, `off` cuts the power, `restart` is `off` and then `on`, each seen. `reset` presses the reset
 * button: for machines that must not be off. It is the one order that can't be read back everywhere.
 */
export type PowerAction = "on" | "off" | "soft-off" | "restart" | "reset";

/** What a machine boots from. `default`: the order of its firmware; an override that is in force is removed. */
export type BootDevice = "pxe" | "uefi-http" | "virtual-media" | "disk" | "default";

export type BootMode = "UEFI" | "legacy";

export interface BootChoice {
  /** Only the next boot. Otherwise every boot until it is changed. Of no account for `default`. */
  once: boolean;
  /** Undefined: whatever the firmware has. */
  mode?: BootMode;
  /** `uefi-http` only: the address of the loader or image. Undefined: the one that DHCP gives. */
  httpBootUri?: string;
}

/** What the BMC made of a choice. Some know no single boot: whoever asked for one sets another device after it. */
export interface BootSeen {
  once: boolean;
}

export interface BmcCall {
  /** Ends the call, the wait for its effect included. */
  signal?: AbortSignal;
  /** How long the call may take, the wait for its effect included, in ms; each half of a restart by itself. Its default suits slow BMCs. */
  withinMs?: number;
}

export interface BmcIdentity {
  manufacturer?: string;
  model?: string;
  serial?: string;
  /** Lower case, as SMBIOS has it. */
  uuid?: string;
  /** Of the machine's own cards, in the BMC's order. Many BMCs know them only after the machine was on. */
  macs: readonly Mac[];
  firmwareVersion?: string;
  bmcVersion?: string;
  /** Where the machine is at the BMC: a Redfish path; for IPMI empty. */
  system: string;
}

/** A setting of the machine's firmware, with what it may be. */
export interface FirmwareSetting {
  name: string;
  value: string | number | boolean | null;
  readOnly?: boolean;
  type?: "Enumeration" | "String" | "Integer" | "Boolean" | "Password";
  /** Of an enumeration. */
  allowed?: readonly string[];
  least?: number;
  most?: number;
  minLength?: number;
  maxLength?: number;
}

/** One machine behind a BMC. */
export interface Bmc {
  readPower(call?: BmcCall): Promise<PowerState>;
  /** Default wait: 2 minutes, for `soft-off` 10. */
  setPower(action: PowerAction, call?: BmcCall): Promise<void>;
  /** Takes effect at the next boot. */
  bootFrom(device: BootDevice, choice: BootChoice, call?: BmcCall): Promise<BootSeen>;
  /** Inserts an image as a CD; one that is in is ejected first. `url`: http or https, reachable from the BMC. */
  insertMedia(url: string, call?: BmcCall): Promise<void>;
  ejectMedia(call?: BmcCall): Promise<void>;
  identity(call?: BmcCall): Promise<BmcIdentity>;
  /** Empty where the BMC shows none. */
  firmwareSettings(call?: BmcCall): Promise<readonly FirmwareSetting[]>;
  /** Gives up what the BMC holds for us: a session ends with its last user. Never rejects. */
  close(): Promise<void>;
}

export interface BmcCredentials {
  username: string;
  password: string;
}
