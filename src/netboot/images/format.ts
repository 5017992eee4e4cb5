/** What an image is, by its first bytes; names and media types lie. */
export type ImageFormat = "raw" | "gz" | "zst" | "xz" | "qcow2";

/** Enough for every format's mark and for the header of qcow2. */
export const HEAD_BYTES = 512;

const MARKS: readonly [ImageFormat, readonly number[]][] = [
  ["qcow2", [0x51, 0x46, 0x49, 0xfb]],
  ["gz", [0x1f, 0x8b]],
  ["zst", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
];

/** The format by the first bytes; `raw` when no mark fits. Wants at least six bytes. */
export function formatOf(head: Uint8Array): ImageFormat {
  return MARKS.find(([, mark]) => mark.every((byte, at) => head[at] === byte))?.[0] ?? "raw";
}

/** Incompatible features (QEMU, docs/interop/qcow2): data in another file. */
const EXTERNAL_DATA = 1n << 2n;

/**
 * Why a qcow2 image can't be taken, from its header; undefined: it can. One that names another file would have the server hand out that file,
 * whatever it is.
 */
export function qcow2Obstacle(head: Uint8Array, mostBytes: number): string | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (head.length < 72) return "its header is cut off";
  const version = view.getUint32(4);
  if (version !== 2 && version !== 3) return `its version is ${version}, not 2 or 3`;
  if (view.getBigUint64(8) !== 0n) return "it depends on another image (a backing file)";
  if (view.getUint32(32) !== 0) return "it is encrypted";
  if (version === 3 && (head.length < 80 || (view.getBigUint64(72) & EXTERNAL_DATA) !== 0n))
    return "its data are in another file";
  const bytes = view.getBigUint64(24);
  return bytes > BigInt(mostBytes) ? `it unfolds to ${bytes} bytes, more than ${mostBytes}` : undefined;
}
