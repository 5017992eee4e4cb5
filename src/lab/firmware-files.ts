import type { Firmware } from "./machine.ts";

/** What QEMU needs for a firmware, and the Debian packages it comes with. */
export interface FirmwareFiles {
  program: string;
  /** Code is read only; of the variables each machine has its own copy. */
  flash?: { code: string; variables: string };
  /** The card, and the file of its ROM; without one the firmware has a driver of its own. */
  card: { device: string; rom?: string };
  packages: readonly string[];
}

const X86 = "qemu-system-x86_64";
const OVMF = "/usr/share/OVMF";
const AAVMF = "/usr/share/AAVMF";
const PLAIN = { code: `${OVMF}/OVMF_CODE_4M.fd`, variables: `${OVMF}/OVMF_VARS_4M.fd` };
const VIRTIO = { device: "virtio-net-pci" };
const UEFI: FirmwareFiles = { program: X86, flash: PLAIN, card: VIRTIO, packages: ["qemu-system-x86", "ovmf"] };

export const FIRMWARE_FILES: Readonly<Record<Firmware, FirmwareFiles>> = {
  bios: {
    program: X86,
    // The ROM for virtio does not know the virtio that a PCI Express board gives.
    card: { device: "e1000e", rom: "/usr/lib/ipxe/qemu/pxe-e1000e.rom" },
    packages: ["qemu-system-x86", "ipxe-qemu"],
  },
  uefi: UEFI,
  "uefi-http": UEFI,
  "uefi-secure": {
    ...UEFI,
    flash: { code: `${OVMF}/OVMF_CODE_4M.ms.fd`, variables: `${OVMF}/OVMF_VARS_4M.ms.fd` },
  },
  arm64: {
    program: "qemu-system-aarch64",
    flash: { code: `${AAVMF}/AAVMF_CODE.fd`, variables: `${AAVMF}/AAVMF_VARS.fd` },
    card: VIRTIO,
    packages: ["qemu-system-arm", "qemu-efi-aarch64"],
  },
};
