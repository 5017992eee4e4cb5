/**
 * A CD that firmware with UEFI starts from: an ISO 9660 volume (ECMA-119) with one folder of files, and a FAT image as its boot image (El Torito 1.0, with the
 * platform 0xEF of UEFI 2.10, §13.3.2.1).
 */
import { Fault } from "@slipway/base";

const SECTOR = 2048;
const VOLUME_AT = 16;
const BOOT_RECORD_AT = 17;
const END_AT = 18;
const CATALOG_AT = 19;
const PATHS_AT = 20;
const PATHS_BIG_AT = 21;
const ROOT_AT = 22;
const FOLDER_AT = 23;
const FILES_AT = 24;
const UEFI = 0xef;
const FOLDER_FLAG = 2;
/** Days are counted from 1900 here, and no clock is asked. */
const YEAR = 80;

export interface BootCd {
  /** Up to 32 characters of A-Z, 0-9 and _. */
  label: string;
  /** The one folder: capitals and digits, up to eight. */
  folder: string;
  /** Its files: up to eight and three capitals and digits. */
  files: Readonly<Record<string, Uint8Array>>;
  /** What the firmware starts: a FAT file system. */
  bootImage: Uint8Array;
}

/** The image: the same bytes for the same content. Throws a `Fault` for a name that is none, or an image that is too large. */
export function bootCd({ label, folder, files, bootImage }: BootCd): Buffer {
  for (const name of [folder, ...Object.keys(files)])
    if (!/^[A-Z0-9_]{1,8}(\.[A-Z0-9_]{1,3})?$/.test(name))
      throw wrong(`${JSON.stringify(name)} is no name of ISO 9660`);
  if (!/^[A-Z0-9_]{1,32}$/.test(label)) throw wrong(`${JSON.stringify(label)} is no label`);
  if (bootImage.length > 0xffff * 512) throw wrong("the boot image is too large");
  let at = FILES_AT;
  const placed = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, bytes]) => {
      const place = { name, bytes, at };
      at += sectors(bytes);
      return place;
    });
  const bootAt = at;
  const image = Buffer.alloc((bootAt + sectors(bootImage)) * SECTOR);
  const put = (sector: number, bytes: Uint8Array): void => image.set(bytes, sector * SECTOR);
  put(VOLUME_AT, volume(label, image.length / SECTOR, pathTable(folder, false).length));
  put(BOOT_RECORD_AT, bootRecord());
  put(END_AT, Buffer.from("\xffCD001\x01", "latin1"));
  put(CATALOG_AT, catalog(bootAt, bootImage.length / 512));
  put(PATHS_AT, pathTable(folder, false));
  put(PATHS_BIG_AT, pathTable(folder, true));
  const own = folderRecord("\0", ROOT_AT);
  put(ROOT_AT, Buffer.concat([own, folderRecord("\x01", ROOT_AT), folderRecord(folder, FOLDER_AT)]));
  const records = placed.map(({ name, bytes, at: place }) => record(`${name};1`, place, bytes.length, 0));
  put(FOLDER_AT, Buffer.concat([folderRecord("\0", FOLDER_AT), folderRecord("\x01", ROOT_AT), ...records]));
  for (const { bytes, at: place } of placed) put(place, bytes);
  put(bootAt, bootImage);
  return image;
}

function sectors({ length }: Uint8Array): number {
  return Math.ceil(length / SECTOR);
}

/** ECMA-119 §8.4. Numbers stand in both orders. */
function volume(label: string, size: number, pathBytes: number): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write("\x01CD001\x01", 0, "latin1");
  bytes.fill(0x20, 8, 72);
  bytes.write(label, 40, "latin1");
  both32(size).copy(bytes, 80);
  for (const at of [120, 124]) both16(1).copy(bytes, at);
  both16(SECTOR).copy(bytes, 128);
  both32(pathBytes).copy(bytes, 132);
  bytes.writeUInt32LE(PATHS_AT, 140);
  bytes.writeUInt32BE(PATHS_BIG_AT, 148);
  folderRecord("\0", ROOT_AT).copy(bytes, 156);
  bytes.fill(0x20, 190, 813);
  for (const moment of [813, 830, 847, 864]) bytes.write("0".repeat(16), moment, "latin1");
  bytes.writeUInt8(1, 881);
  return bytes;
}

function bootRecord(): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write("\0CD001\x01EL TORITO SPECIFICATION", 0, "latin1");
  bytes.writeUInt32LE(CATALOG_AT, 71);
  return bytes;
}

/** A validation entry, whose words add up to zero, and the image, which the firmware does not emulate as a disk. */
function catalog(imageAt: number, blocks: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt8(UEFI, 1);
  bytes.writeUInt16LE(0xaa55, 30);
  let sum = 0;
  for (let at = 0; at < 32; at += 2) sum += bytes.readUInt16LE(at);
  bytes.writeUInt16LE(-sum & 0xffff, 28);
  bytes.writeUInt8(0x88, 32);
  bytes.writeUInt16LE(blocks, 38);
  bytes.writeUInt32LE(imageAt, 40);
  return bytes;
}

/** ECMA-119 §9.4: the root, and the folder in it. */
function pathTable(folder: string, isBig: boolean): Buffer {
  return Buffer.concat(
    [["\0", ROOT_AT] as const, [folder, FOLDER_AT] as const].map(([name, at]) => {
      const bytes = Buffer.alloc(8 + name.length + (name.length % 2));
      bytes.writeUInt8(name.length, 0);
      if (isBig) bytes.writeUInt32BE(at, 2);
      else bytes.writeUInt32LE(at, 2);
      if (isBig) bytes.writeUInt16BE(1, 6);
      else bytes.writeUInt16LE(1, 6);
      bytes.write(name, 8, "latin1");
      return bytes;
    }),
  );
}

function folderRecord(name: string, at: number): Buffer {
  return record(name, at, SECTOR, FOLDER_FLAG);
}

/** ECMA-119 §9.1. */
function record(name: string, at: number, length: number, flags: number): Buffer {
  const bytes = Buffer.alloc(33 + name.length + (name.length % 2 === 0 ? 1 : 0));
  bytes.writeUInt8(bytes.length, 0);
  both32(at).copy(bytes, 2);
  both32(length).copy(bytes, 10);
  bytes.set([YEAR, 1, 1], 18);
  bytes.writeUInt8(flags, 25);
  both16(1).copy(bytes, 28);
  bytes.writeUInt8(name.length, 32);
  bytes.write(name, 33, "latin1");
  return bytes;
}

function both16(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16LE(value, 0);
  bytes.writeUInt16BE(value, 2);
  return bytes;
}

function both32(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value, 0);
  bytes.writeUInt32BE(value, 4);
  return bytes;
}

function wrong(why: string): Fault {
  return new Fault("Invalid", "boot CD", why);
}
