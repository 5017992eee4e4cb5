import type { OpenFile } from "./source.ts";

/**
 * The same file for a reader that goes from front to end in small steps: it is read in chunks, and the next chunk is
 * under way before it is asked for. Holds at most three chunks. The caller closes the file underneath, as before.
 */
export function readAhead(file: OpenFile, chunkBytes: number): Pick<OpenFile, "size" | "read"> {
  const chunks = new Map<number, Promise<Uint8Array>>();
  const chunk = (index: number): Promise<Uint8Array> => {
    let bytes = chunks.get(index);
    if (bytes === undefined) {
      bytes = file.read(index * chunkBytes, Math.min(chunkBytes, file.size - index * chunkBytes));
      // The caller that asks for these bytes gets the error; until then there is no waiter.
      bytes.catch(() => {});
      chunks.set(index, bytes);
    }
    return bytes;
  };
  return {
    size: file.size,
    async read(offset, length) {
      const end = Math.min(offset + length, file.size);
      if (offset >= end) return new Uint8Array();
      const first = Math.floor(offset / chunkBytes);
      const last = Math.floor((end - 1) / chunkBytes);
      const wanted: Promise<Uint8Array>[] = [];
      for (let index = first; index <= last; index++) wanted.push(chunk(index));
      if ((last + 1) * chunkBytes < file.size) void chunk(last + 1);
      for (const index of chunks.keys()) if (index < first || index > last + 1) chunks.delete(index);

      const parts = await Promise.all(wanted);
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      return bytes.subarray(offset - first * chunkBytes, end - first * chunkBytes);
    },
  };
}
