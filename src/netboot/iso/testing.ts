import { fileOf } from "../files/memory.ts";
import type { OpenFile } from "../files/source.ts";
import { SECTOR_BYTES } from "./volume.ts";

/** A record of a directory to be written by hand; `block` and `size` say where its contents lie. */
export interface HandRecord {
  name: string;
  block: number;
  size: number;
  directory?: boolean;
  goesOn?: boolean;
  systemUse?: Uint8Array;
}

/** A hand-made image, for what no program would make: its root at block 18, and whatever else is put in. */
export function handMade(
  root: readonly HandRecord[],
  blocks: Readonly<Record<number, Uint8Array>>,
  size = 64,
): OpenFile {
  const image = Buffer.alloc(size * SECTOR_BYTES);
  const primary = image.subarray(16 * SECTOR_BYTES);
  primary.write("\x01CD001\x01", "latin1");
  primary.writeUInt16LE(SECTOR_BYTES, 128);
  const self = { name: "\0", block: 18, size: SECTOR_BYTES, directory: true };
  primary.set(record(self), 156);
  image.write("\xffCD001\x01", 17 * SECTOR_BYTES, "latin1");
  image.set(directory([{ ...self, systemUse: field("SP", [0xbe, 0xef, 0]) }, ...root]), 18 * SECTOR_BYTES);
  for (const [block, bytes] of Object.entries(blocks)) image.set(bytes, Number(block) * SECTOR_BYTES);
  return fileOf(image);
}

/** The records of a directory, one after the other (ECMA-119 §9.1). */
export function directory(records: readonly HandRecord[]): Uint8Array {
  return Buffer.concat(records.map(record));
}

/** A field of a system use area. */
export function field(name: string, data: readonly number[]): Uint8Array {
  return Uint8Array.of(name.charCodeAt(0), name.charCodeAt(1), data.length + 4, 1, ...data);
}

/** A number in both byte orders, eight bytes (ECMA-119 §7.3.3). */
export function u32(value: number): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value, 0);
  bytes.writeUInt32BE(value, 4);
  return [...bytes];
}

function record({
  name,
  block,
  size,
  directory: isDirectory,
  goesOn,
  systemUse = new Uint8Array(),
}: HandRecord): Buffer {
  const nameEnd = 33 + name.length;
  const start = nameEnd + (nameEnd % 2);
  const bytes = Buffer.alloc(start + systemUse.length + (systemUse.length % 2));
  bytes[0] = bytes.length;
  bytes.set(u32(block), 2);
  bytes.set(u32(size), 10);
  bytes[25] = (isDirectory ? 2 : 0) | (goesOn ? 0x80 : 0);
  bytes[32] = name.length;
  bytes.write(name, 33, "latin1");
  bytes.set(systemUse, start);
  return bytes;
}
