import { execFileSync } from "node:child_process";
import { createHash, randomFillSync } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MIB = 1 << 20;

/** A disk image with a GPT and one partition of noise, so that every byte of it differs from an empty disk's. */
export function partitionedImage(megabytes: number): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "slipway-image-"));
  try {
    const file = join(folder, "image");
    const noise = Buffer.alloc(megabytes * MIB);
    randomFillSync(noise, MIB, (megabytes - 2) * MIB);
    writeFileSync(file, noise);
    execFileSync("/sbin/sgdisk", ["--new", `1:2048:${(megabytes - 1) * 2048 - 1}`, file], { stdio: "ignore" });
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** SHA-256 in hexadecimal. */
export const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** SHA-512 in hexadecimal. */
export const sha512 = (content: Buffer): string => createHash("sha512").update(content).digest("hex");

/** Bytes of a disk's file. */
export function bytesOf(file: string, from: number, length: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    readSync(descriptor, bytes, 0, length, from);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

/** Position of the first byte that is not zero, or undefined: the whole of the file is. */
export function firstTrace(file: string): number | undefined {
  const content = readFileSync(file);
  const at = content.findIndex((byte) => byte !== 0);
  return at === -1 ? undefined : at;
}

/** A file in the FAT partition that starts at `from`. */
export function fatFile(disk: string, from: number, path: string): string {
  return execFileSync("mcopy", ["-n", "-i", `${disk}@@${from}`, `::${path}`, "-"]).toString();
}
