import type { Firmware } from "./machine.ts";

/** What QEMU needs for a firmware, and the Debian packages it comes with. */
export interface FirmwareFiles {
  program: string;
  /** Code is read only; of the variables each machine has its own copy. */
  flash?: { code: string; variables: string };
  /** The card's ROM, by file; absent: none, the firmware has a driver of its own. */
  rom?: string;
  packages: readonly string[];
}

const X86 = "qemu-system-x86_64";
const OVMF = "/usr/share/OVMF";
const AAVMF = "/usr/share/AAVMF";
const PLAIN = { code: `${OVMF}/OVMF_CODE_4M.fd`, variables: `${OVMF}/OVMF_VARS_4M.fd` };
const UEFI: FirmwareFiles = { program: X86, flash: PLAIN, packages: ["qemu-system-x86", "ovmf"] };

export const FIRMWARE_FILES: Readonly<Record<Firmware, FirmwareFiles>> = {
  bios: { program: X86, rom: "/usr/lib/ipxe/qemu/efi-virtio.rom", packages: ["qemu-system-x86", "ipxe-qemu"] },
  uefi: UEFI,
  "uefi-http": UEFI,
  "uefi-secure": {
    ...UEFI,
    flash: { code: `${OVMF}/OVMF_CODE_4M.ms.fd`, variables: `${OVMF}/OVMF_VARS_4M.ms.fd` },
  },
  arm64: {
    program: "qemu-system-aarch64",
    flash: { code: `${AAVMF}/AAVMF_CODE.fd`, variables: `${AAVMF}/AAVMF_VARS.fd` },
    packages: ["qemu-system-arm", "qemu-efi-aarch64"],
  },
};
