import { createHash } from "node:crypto";
import type { FileSource, OpenFile } from "./source.ts";

/** Files that are held in memory, by name. */
export function memoryFiles(contents: Readonly<Record<string, Uint8Array>>): FileSource {
  const exact = new Map(Object.entries(contents));
  const folded = new Map(Object.entries(contents).map(([name, bytes]) => [name.toLowerCase(), bytes]));
  return {
    async open(name) {
      const bytes = exact.get(name) ?? folded.get(name.toLowerCase());
      return bytes === undefined ? undefined : fileOf(bytes);
    },
  };
}

/** Bytes as an open file; for sources that write their answer when they are asked. */
export function fileOf(bytes: Uint8Array): OpenFile {
  return {
    size: bytes.length,
    get version() {
      return createHash("sha256").update(bytes).digest("hex").slice(0, 32);
    },
    read: async (offset, length) => bytes.subarray(offset, offset + length),
    close: async () => {},
  };
}
