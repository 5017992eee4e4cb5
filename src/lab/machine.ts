/**
 * A laboratory of machines that QEMU makes: real firmware, disks as files, a network of its own. `machine.ts` says what a machine
 * is, `qemu-arguments.ts` QEMU's command line, `qemu-machine.ts` switches it on and off, `bridge.ts` is its network and
 * `namespace.ts` the room that the network lives in. Nothing here outlives the process that started it, however that ends.
 *
 * Machines are emulated, never virtualised: KVM is not usable everywhere where its device is.
 */
import type { Mac } from "@slipway/base";

/**
 * `bios`: SeaBIOS with iPXE as the card's ROM. `uefi`: OVMF, PXE first. `uefi-secure`: the same with Microsoft's keys, enforced.
 * `uefi-http`: OVMF without PXE, so that it boots by HTTP. `arm64`: AAVMF.
 */
export const FIRMWARES = ["bios", "uefi", "uefi-secure", "uefi-http", "arm64"] as const;
export type Firmware = (typeof FIRMWARES)[number];

/** A machine as it stands in the rack. */
export interface MachineSpec {
  /** Names its tap, too: at most 11 letters, digits and dashes. */
  name: string;
  firmware: Firmware;
  memoryMiB: number;
  /** Default: one. */
  processors?: number;
  mac: Mac;
  /** Raw images; the machine boots from the first when the network lets it. */
  disks: readonly DiskSpec[];
  /** SMBIOS UUID. */
  uuid: string;
  /** It has a TPM 2.0, whose endorsement key lasts as long as its disks. */
  hasTpm?: boolean;
  /** `bios` only: run by the firmware in place of its card's ROM. */
  loader?: Loader;
}

/** Something in the format of a Linux kernel, and what it is given: for firmware that QEMU has not got. */
export interface Loader {
  kernel: string;
  initrd: string;
}

export interface DiskSpec {
  file: string;
  bus: "virtio" | "sata" | "nvme";
  serial: string;
}

/** The n-th machine's address (from 1), in the range that QEMU uses for its cards. Throws `RangeError` beyond 65535. */
export function labMac(n: number): Mac {
  if (!Number.isInteger(n) || n < 1 || n > 0xffff) throw new RangeError(`machine ${n}`);
  const digits = n.toString(16).padStart(4, "0");
  return `52:54:00:77:${digits.slice(0, 2)}:${digits.slice(2)}` as Mac;
}

/** The n-th machine's SMBIOS UUID: the same at every start. */
export function labUuid(n: number): string {
  return `534c4950-5741-4000-8000-${n.toString(16).padStart(12, "0")}`;
}
