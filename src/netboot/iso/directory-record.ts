import { malformed } from "./bytes-at.ts";

/** Where something lies in the image, in bytes. */
export interface Place {
  at: number;
  size: number;
}

/** One record of a directory (ECMA-119 §9.1), as far as it matters for reading. */
export interface DirectoryRecord {
  place: Place;
  directory: boolean;
  /** Belongs to the file of the same name, as its resource fork: no file of its own. */
  associated: boolean;
  /** The next record of the same name says where the file continues. */
  goesOn: boolean;
  /** Parts lie apart, which no image of today has. */
  interleaved: boolean;
  name: Buffer;
  /** What extensions say of it. */
  systemUse: Buffer;
}

const FIXED_BYTES = 33;
const FLAG = { directory: 0x02, associated: 0x04, goesOn: 0x80 } as const;

/** Reads one record from its exact bytes. Throws a `Fault` when they can't be one. */
export function parseRecord(bytes: Buffer, blockBytes: number): DirectoryRecord {
  if (bytes.length <= FIXED_BYTES) throw malformed(`has a directory record of ${bytes.length} bytes`);
  const nameEnd = FIXED_BYTES + bytes[32]!;
  if (nameEnd > bytes.length) throw malformed("has a name that is longer than its record");
  const flags = bytes[25]!;
  return {
    // Attributes may come before the contents.
    place: { at: (bytes.readUInt32LE(2) + bytes[1]!) * blockBytes, size: bytes.readUInt32LE(10) },
    directory: (flags & FLAG.directory) !== 0,
    associated: (flags & FLAG.associated) !== 0,
    goesOn: (flags & FLAG.goesOn) !== 0,
    interleaved: bytes[26] !== 0 || bytes[27] !== 0,
    name: bytes.subarray(FIXED_BYTES, nameEnd),
    systemUse: bytes.subarray(nameEnd + (nameEnd % 2)),
  };
}
