import { type BootDevice, bootIndexes, DEVICE_IDS, diskId } from "./boot-order.ts";
import { FIRMWARE_FILES } from "./firmware-files.ts";
import type { DiskSpec, MachineSpec } from "./machine.ts";

/** Where a running machine's ends are. */
export interface Wiring {
  /** The network interface that its card is plugged into. */
  tap: string;
  /** Its own copy of the firmware's variables, where the firmware has some. */
  variables: string;
  /** The file descriptor of the connected socket that QEMU is ordered over. */
  qmpDescriptor: number;
  /** What goes before the usual boot order. */
  first?: BootDevice;
  /** The image in the CD drive; unset: the drive is empty. */
  cd?: string;
  /** Socket of the TPM, where the machine has one. */
  tpm?: string;
}

type Indexes = Readonly<Record<string, number>>;

/** QEMU's program and arguments: serial console on its standard output, the network first, then the first disk. Pure. */
export function qemuArguments(machine: MachineSpec, wiring: Wiring): { program: string; args: string[] } {
  const { program } = FIRMWARE_FILES[machine.firmware];
  const indexes = bootIndexes(machine, wiring.first);
  const args = [
    ...[
      "-name",
      machine.name,
      "-uuid",
      machine.uuid,
      "-m",
      String(machine.memoryMiB),
      "-smp",
      String(machine.processors ?? 1),
    ],
    ...["-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio"],
    ...["-chardev", `socket,id=qmp,fd=${wiring.qmpDescriptor}`, "-mon", "chardev=qmp,mode=control"],
    ...board(machine),
    ...flash(machine, wiring),
    ...card(machine, wiring, indexes),
    ...machine.disks.flatMap((each, at) => disk(each, at, indexes)),
    ...cdDrive(machine, wiring, indexes),
    ...tpmDevice(machine, wiring),
    // Firmware and kernel wait for randomness otherwise.
    ...["-device", "virtio-rng-pci"],
    ...(machine.loader === undefined ? [] : ["-kernel", machine.loader.kernel, "-initrd", machine.loader.initrd]),
  ];
  return { program, args };
}

function board({ firmware }: MachineSpec): string[] {
  if (firmware === "arm64")
    return ["-machine", "virt,graphics=off", "-cpu", "cortex-a72", "-accel", "tcg,thread=multi"];
  // Without graphics SeaBIOS and its ROMs speak on the serial line.
  const plain = ["-machine", "q35,graphics=off", "-accel", "tcg"];
  if (firmware !== "uefi-secure") return plain;
  return [
    ...["-machine", "q35,graphics=off,smm=on", "-accel", "tcg"],
    ...["-global", "driver=cfi.pflash01,property=secure,value=on"],
  ];
}

function flash({ firmware }: MachineSpec, { variables }: Wiring): string[] {
  const { flash: files } = FIRMWARE_FILES[firmware];
  if (files === undefined) return [];
  const off = (name: string): string[] => ["-fw_cfg", `name=opt/org.tianocore/${name},string=no`];
  return [
    ...["-drive", `if=pflash,unit=0,format=raw,readonly=on,file=${escaped(files.code)}`],
    ...["-drive", `if=pflash,unit=1,format=raw,file=${escaped(variables)}`],
    // Nobody answers IPv6 here, and the firmware waits minutes for it before it goes on to the disk.
    ...off("IPv6PXESupport"),
    ...(firmware === "uefi-http" ? off("IPv4PXESupport") : []),
  ];
}

function card({ firmware, mac, loader }: MachineSpec, { tap }: Wiring, indexes: Indexes): string[] {
  const { rom } = FIRMWARE_FILES[firmware];
  const romFile = rom === undefined || loader !== undefined ? "" : escaped(rom);
  return [
    ...["-netdev", `tap,id=net0,ifname=${tap},script=no,downscript=no`],
    // The ROM knows the card by its modern number only.
    ...[
      "-device",
      `virtio-net-pci,disable-legacy=on,netdev=net0,mac=${mac},romfile=${romFile},${named(DEVICE_IDS.network, indexes)}`,
    ],
  ];
}

function disk({ file, bus, serial }: DiskSpec, at: number, indexes: Indexes): string[] {
  const id = `disk${at}`;
  const device = {
    virtio: `virtio-blk-pci,drive=${id}`,
    sata: `ide-hd,drive=${id},bus=ide.${at}`,
    nvme: `nvme,drive=${id}`,
  }[bus];
  return [
    ...["-drive", `if=none,id=${id},format=raw,discard=unmap,detect-zeroes=unmap,file=${escaped(file)}`],
    ...["-device", `${device},serial=${serial},${named(diskId(at), indexes)}`],
  ];
}

/** A drive that is there also while it is empty. The controller of SATA disks has six places, and the drive the last. */
function cdDrive({ firmware }: MachineSpec, { cd }: Wiring, indexes: Indexes): string[] {
  const medium = cd === undefined ? "" : `,format=raw,readonly=on,file=${escaped(cd)}`;
  const id = named(DEVICE_IDS.cd, indexes);
  return [
    ...["-drive", `if=none,id=cd,media=cdrom${medium}`],
    // ARM64 boards have no SATA.
    ...(firmware === "arm64"
      ? ["-device", "virtio-scsi-pci,id=scsi0", "-device", `scsi-cd,bus=scsi0.0,drive=cd,${id}`]
      : ["-device", `ide-cd,bus=ide.5,drive=cd,${id}`]),
  ];
}

function tpmDevice({ firmware }: MachineSpec, { tpm }: Wiring): string[] {
  if (tpm === undefined) return [];
  const device = firmware === "arm64" ? "tpm-tis-device" : "tpm-tis";
  return [
    ...["-chardev", `socket,id=tpm,path=${escaped(tpm)}`, "-tpmdev", "emulator,id=tpm0,chardev=tpm"],
    ...["-device", `${device},tpmdev=tpm0`],
  ];
}

function named(id: string, indexes: Indexes): string {
  const index = indexes[id];
  return index === undefined || index < 0 ? `id=${id}` : `id=${id},bootindex=${index}`;
}

/** QEMU ends a value at a comma; two stand for one. */
function escaped(file: string): string {
  return file.replaceAll(",", ",,");
}
