import { createHash } from "node:crypto";
import { constants, zstdCompressSync } from "node:zlib";
import { type Entry, packCpio } from "../../src/netboot/agent/cpio.ts";

type Entries = ReadonlyMap<string, Entry>;

/** What the agent comes in: each part fetches the next one. */
export interface Parts<T> {
  /** The boot loader fetches it: what reaches the network. */
  first: T;
  /** What reports the hardware and carries out orders. */
  rest: T;
  /** What makes the key and asks the BMC for its address: large, and slow to start. */
  keys: T;
}

/** Packs the parts so that they fit together: each has the checksum of the next one that it was made with, and takes no other. */
export function packParts({ first, rest, keys }: Parts<Entries>): Parts<Buffer> {
  const packedKeys = packed(keys);
  const packedRest = packed(new Map([...rest, ["agent/keys.sha256", sha256(packedKeys)]]));
  return {
    first: packed(new Map([...first, ["agent/rest.sha256", sha256(packedRest)]])),
    rest: packedRest,
    keys: packedKeys,
  };
}

function packed(entries: Entries): Buffer {
  return zstdCompressSync(packCpio(entries), { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
}

function sha256(content: Buffer): Entry {
  return { is: "file", content: Buffer.from(createHash("sha256").update(content).digest("hex")), executable: false };
}
