/** The node image as a disk that boots: one FAT partition with the loaders, kernel, initramfs and the node's files, which stay packed there. */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { NodeArchitecture } from "../../test/kubernetes/assets/node-binaries.ts";
import { run } from "../image/run.ts";
import { DISK_LABEL } from "./packages.ts";

/** Debian's packages with the signed loaders. */
export const LOADERS: Readonly<Record<NodeArchitecture, readonly string[]>> = {
  amd64: ["shim-signed", "grub-efi-amd64-signed"],
  arm64: ["shim-signed", "grub-efi-arm64-signed"],
};

const MEBIBYTE = 1024 ** 2;
/** What starts the partition that has attribute 2 (BIOS). */
const BOOT_SECTOR = "/usr/lib/SYSLINUX/gptmbr.bin";
const ARGUMENTS = `slipway.root=LABEL=${DISK_LABEL} quiet`;
const CONSOLES: Readonly<Record<NodeArchitecture, string>> = { amd64: "console=ttyS0", arm64: "console=ttyAMA0" };

/** mtools' clock: every file has the time at which FAT's calendar begins. */
const ONE_TIME = { env: { ...process.env, SOURCE_DATE_EPOCH: "315532800", TZ: "UTC" } };

export interface DiskIngredients {
  architecture: NodeArchitecture;
  /** Files of the packages in `LOADERS`. */
  loaders: readonly string[];
  /** A folder for what is put together; made anew, and gone at the end. */
  work: string;
  /** Its file in the folder. */
  name: string;
  /** Of the folder: laid over the node's files. */
  layers: readonly string[];
  say(text: string): void;
}

/** Writes a disk of the live image in this folder: same files, same bytes. It boots by UEFI, as amd64 by BIOS, too. Needs sgdisk, mtools, mkfs.vfat, zstd, and for BIOS syslinux. */
export function writeDisk(folder: string, { architecture, loaders, work, name, layers, say }: DiskIngredients): void {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    for (const deb of loaders) run("dpkg-deb", ["--extract", deb, work]);
    const partition = join(work, "partition.img");
    const disk = join(work, "disk.img");
    const mebibytes = fillPartition(partition, folder, { architecture, work, layers });
    writeFileSync(disk, "");
    truncateSync(disk, (mebibytes + 2) * MEBIBYTE);
    const [ofDisk, ofPartition] = guids(readFileSync(partition));
    const table = [
      "-n",
      `1:2048:+${mebibytes}M`,
      "-t",
      "1:ef00",
      "-A",
      "1:set:2",
      "-u",
      `1:${ofPartition}`,
      "-U",
      ofDisk,
    ];
    run("/usr/sbin/sgdisk", [...table, disk]);
    if (architecture === "amd64") run("dd", [`if=${BOOT_SECTOR}`, `of=${disk}`, "conv=notrunc", "bs=440", "count=1"]);
    run("dd", [`if=${partition}`, `of=${disk}`, "conv=notrunc,sparse", "bs=1M", "seek=1"]);
    // What is large in it is packed already.
    run("zstd", ["-q", "-1", "-f", disk, "-o", `${disk}.zst`]);
    say(`${name} ${(statSync(`${disk}.zst`).size / 1e6).toFixed(1)} MB`);
    renameSync(`${disk}.zst`, join(folder, name));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The table's names of disk and partition, drawn from what is in the partition (version 8 of RFC 9562: the maker's own bits). */
function guids(partition: Buffer): [disk: string, partition: string] {
  const hash = createHash("sha256").update(partition).digest();
  const guid = (bytes: Buffer): string => {
    bytes[6] = 0x80 | (bytes[6]! & 0x0f);
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return bytes.toString("hex").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
  };
  return [guid(hash.subarray(0, 16)), guid(hash.subarray(16))];
}

/** Writes the partition's image and returns its size in MiB. */
function fillPartition(
  image: string,
  folder: string,
  { architecture, work, layers }: Pick<DiskIngredients, "architecture" | "work" | "layers">,
): number {
  const files = {
    ...{ vmlinuz: "vmlinuz", "initrd.disk": "initrd", "root.squashfs": "root.squashfs" },
    ...Object.fromEntries(layers.map((layer) => [layer, layer])),
  };
  const bytes = Object.keys(files).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const mebibytes = Math.ceil(bytes / MEBIBYTE) + 16;
  writeFileSync(image, "");
  truncateSync(image, mebibytes * MEBIBYTE);
  run("/usr/sbin/mkfs.vfat", ["--invariant", "-F", "32", "-n", DISK_LABEL, image]);
  run("mmd", ["-i", image, "::/EFI", "::/EFI/BOOT", "::/EFI/debian"], ONE_TIME);
  const put = (from: string, to: string): void => void run("mcopy", ["-i", image, from, `::/${to}`], ONE_TIME);
  for (const [from, to] of Object.entries(files)) put(join(folder, from), to);
  const kernelArguments = `${ARGUMENTS} ${CONSOLES[architecture]}`;
  const text = (name: string, content: string, to: string): void => {
    writeFileSync(join(work, name), content);
    put(join(work, name), to);
  };
  text("grub.cfg", `linux /vmlinuz ${kernelArguments}\ninitrd /initrd\nboot\n`, "EFI/debian/grub.cfg");
  const suffix = architecture === "amd64" ? "x64" : "aa64";
  put(found(work, `usr/lib/shim/shim${suffix}.efi.signed`), `EFI/BOOT/BOOT${suffix.toUpperCase()}.EFI`);
  put(found(work, `usr/lib/grub/*-signed/grub${suffix}.efi.signed`), `EFI/BOOT/grub${suffix}.efi`);
  if (architecture === "amd64") {
    const menu = `default node\nprompt 0\nlabel node\n  kernel /vmlinuz\n  initrd /initrd\n  append ${kernelArguments}\n`;
    text("syslinux.cfg", menu, "syslinux.cfg");
    run("syslinux", ["--install", image], ONE_TIME);
  }
  return mebibytes;
}

function found(folder: string, pattern: string): string {
  const [file] = globSync(join(folder, pattern));
  if (file === undefined) throw new Fault("NotFound", pattern, "Debian's packages of loaders have no such file");
  return file;
}
