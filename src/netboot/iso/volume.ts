import { bytesAt, type Image, malformed } from "./bytes-at.ts";
import { type Place, parseRecord } from "./directory-record.ts";
import { suspSkip } from "./system-use.ts";

/** What all the rest of an image is read by. */
export interface Volume {
  root: Place;
  /** A logical block, which addresses count in. */
  blockBytes: number;
  names: NameRule;
}

/** How files are named: Rock Ridge keeps a Unix name beside each, Joliet has a tree of its own, else there are only the short ones. */
export type NameRule = { by: "rock-ridge"; skip: number } | { by: "joliet" } | { by: "plain" };

export const SECTOR_BYTES = 2048;

/** ECMA-119 §6.2.1: the first sixteen sectors are the system's. */
const FIRST_DESCRIPTOR = 16;
const MOST_DESCRIPTORS = 64;

/** Reads the volume descriptors (ECMA-119 §8). Throws a `Fault` for what is no ISO 9660 image. */
export async function readVolume(image: Image): Promise<Volume> {
  let primary: Volume | undefined;
  let joliet: Volume | undefined;
  for (let at = FIRST_DESCRIPTOR; at < FIRST_DESCRIPTOR + MOST_DESCRIPTORS; at++) {
    if ((at + 1) * SECTOR_BYTES > image.size) break;
    const descriptor = await bytesAt(image, at * SECTOR_BYTES, SECTOR_BYTES);
    if (descriptor.toString("latin1", 1, 6) !== "CD001" || descriptor[0] === 255) break;
    if (descriptor[0] === 1) primary ??= volumeOf(descriptor, { by: "plain" });
    if (descriptor[0] === 2 && isJoliet(descriptor)) joliet ??= volumeOf(descriptor, { by: "joliet" });
  }
  if (primary === undefined) throw malformed("has no volume descriptor: it is no ISO 9660 image");
  const skip = await suspSkip(image, primary);
  return skip === undefined ? (joliet ?? primary) : { ...primary, names: { by: "rock-ridge", skip } };
}

function volumeOf(descriptor: Buffer, names: NameRule): Volume {
  const blockBytes = descriptor.readUInt16LE(128);
  if (![512, 1024, 2048].includes(blockBytes)) throw malformed(`has blocks of ${blockBytes} bytes`);
  const record = parseRecord(descriptor.subarray(156, 190), blockBytes);
  return { root: record.place, blockBytes, names };
}

/** The escape sequences of UCS-2 levels 1 to 3 in a supplementary descriptor. */
function isJoliet(descriptor: Buffer): boolean {
  return ["%/@", "%/C", "%/E"].includes(descriptor.toString("latin1", 88, 91));
}
