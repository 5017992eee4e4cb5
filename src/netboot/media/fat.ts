/**
 * A FAT16 file system as an image (Microsoft, FAT32 File System Specification 1.03), as firmware with UEFI starts from it. Names are short ones: up to
 * eight and three capitals and digits.
 */
import { Fault } from "@slipway/base";

/** Names by their place: a folder holds others, a file bytes. */
export interface Folder {
  readonly [name: string]: Folder | Uint8Array;
}

const SECTOR = 512;
const RESERVED_SECTORS = 1;
const FATS = 2;
const ROOT_ENTRIES = 512;
const ENTRY = 32;
const ROOT_SECTORS = (ROOT_ENTRIES * ENTRY) / SECTOR;
/** By the number of clusters readers know FAT16 from FAT12 and FAT32 (§3.5); a few more than the border, as the specification advises. */
const LEAST_CLUSTERS = 4_200;
const MOST_CLUSTERS = 65_500;
const LAST_CLUSTER = 0xffff;
const FOLDER = 0x10;
/** No clock is asked: 1 January 1980. */
const DATE = 0x21;

/** The image: the same bytes for the same files. Throws a `Fault` for a name that is none, or more than fits. */
export function fatImage(root: Folder): Buffer {
  const clusters = Math.max(LEAST_CLUSTERS, clustersIn(root));
  if (clusters > MOST_CLUSTERS) throw wrong("the files are more than fits");
  const fatSectors = Math.ceil(((clusters + 2) * 2) / SECTOR);
  const firstData = RESERVED_SECTORS + FATS * fatSectors + ROOT_SECTORS;
  const image = Buffer.alloc((firstData + clusters) * SECTOR);
  bootSector(image.length / SECTOR, fatSectors).copy(image);
  const table = Buffer.alloc(fatSectors * SECTOR);
  table.writeUInt32LE(0xfffffff8, 0);
  let next = 2;

  /** Puts bytes into the next clusters, and gives the first of them: 0 for none. */
  const put = (bytes: Uint8Array): number => {
    const first = next;
    const count = Math.ceil(bytes.length / SECTOR);
    if (count === 0) return 0;
    image.set(bytes, (firstData + first - 2) * SECTOR);
    for (let at = first; at < first + count; at++) table.writeUInt16LE(at + 1, at * 2);
    next += count;
    table.writeUInt16LE(LAST_CLUSTER, (next - 1) * 2);
    return first;
  };
  const fill = (folder: Folder, own: number, parent: number): Buffer => {
    const entries: Buffer[] = own === 0 ? [] : [entry(".", FOLDER, own, 0), entry("..", FOLDER, parent, 0)];
    for (const [name, what] of Object.entries(folder))
      if (what instanceof Uint8Array) entries.push(entry(name, 0, put(what), what.length));
      else {
        const place = put(new Uint8Array(folderBytes(what)));
        image.set(fill(what, place, own), (firstData + place - 2) * SECTOR);
        entries.push(entry(name, FOLDER, place, 0));
      }
    return Buffer.concat(entries);
  };
  image.set(fill(root, 0, 0), (RESERVED_SECTORS + FATS * fatSectors) * SECTOR);
  for (let copy = 0; copy < FATS; copy++) table.copy(image, (RESERVED_SECTORS + copy * fatSectors) * SECTOR);
  return image;
}

function clustersIn(folder: Folder): number {
  return Object.values(folder)
    .map((what) =>
      what instanceof Uint8Array ? Math.ceil(what.length / SECTOR) : folderBytes(what) / SECTOR + clustersIn(what),
    )
    .reduce((sum, each) => sum + each, 0);
}

function folderBytes(folder: Folder): number {
  return Math.ceil(((Object.keys(folder).length + 2) * ENTRY) / SECTOR) * SECTOR;
}

function bootSector(sectors: number, fatSectors: number): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write("\xeb\x3c\x90SLIPWAY ", 0, "latin1");
  bytes.writeUInt16LE(SECTOR, 11);
  bytes.writeUInt8(1, 13);
  bytes.writeUInt16LE(RESERVED_SECTORS, 14);
  bytes.writeUInt8(FATS, 16);
  bytes.writeUInt16LE(ROOT_ENTRIES, 17);
  if (sectors < 0x10000) bytes.writeUInt16LE(sectors, 19);
  else bytes.writeUInt32LE(sectors, 32);
  bytes.writeUInt8(0xf8, 21);
  bytes.writeUInt16LE(fatSectors, 22);
  // Heads and sectors of a track: nobody counts by them, and none may be zero.
  bytes.writeUInt16LE(32, 24);
  bytes.writeUInt16LE(64, 26);
  bytes.writeUInt8(0x80, 36);
  bytes.writeUInt8(0x29, 38);
  bytes.writeUInt32LE(0x51_1b_4a_1e, 39);
  bytes.write("NO NAME    FAT16   ", 43, "latin1");
  bytes.writeUInt16LE(0xaa55, 510);
  return bytes;
}

function entry(name: string, attributes: number, cluster: number, size: number): Buffer {
  const [, stem = "", ending = ""] = /^(\.\.?|[A-Z0-9]{1,8})(?:\.([A-Z0-9]{1,3}))?$/.exec(name) ?? [];
  if (stem === "") throw wrong(`${JSON.stringify(name)} is no short name`);
  const bytes = Buffer.alloc(ENTRY);
  bytes.write(stem.padEnd(8) + ending.padEnd(3), 0, "latin1");
  bytes.writeUInt8(attributes, 11);
  for (const at of [16, 18, 24]) bytes.writeUInt16LE(DATE, at);
  bytes.writeUInt16LE(cluster, 26);
  bytes.writeUInt32LE(size, 28);
  return bytes;
}

function wrong(why: string): Fault {
  return new Fault("Invalid", "FAT image", why);
}
