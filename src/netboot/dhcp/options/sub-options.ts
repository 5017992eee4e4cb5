import { Malformed } from "../wire/malformed.ts";

/** The options inside options 43, 82 and 175, in order: code, length, data. */
export type SubOptions = Map<number, Uint8Array>;

/** Codes that are a mark and not an option: PXE's and iPXE's areas know the pad and the end, option 82 does not (RFC 3046 §2.0). */
export type Marks = "padded" | "plain";

/** Reads sub-options; of a code that comes again, the last counts. Throws `Malformed` when one reaches beyond the option. */
export function decode(bytes: Uint8Array, where: string, marks: Marks): SubOptions {
  const out: SubOptions = new Map();
  let at = 0;
  while (at < bytes.length) {
    const code = bytes[at]!;
    if (marks === "padded" && code === 255) break;
    if (marks === "padded" && code === 0) {
      at += 1;
      continue;
    }
    const length = bytes[at + 1];
    if (length === undefined || at + 2 + length > bytes.length)
      throw new Malformed(where, `sub-option ${code} reaches beyond it`);
    out.set(code, bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return out;
}

/** Writes sub-options, with the end mark where there is one. Throws a `RangeError` on one over 255 bytes. */
export function encode(options: SubOptions, marks: Marks): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [code, data] of options) {
    if (data.length > 255) throw new RangeError(`sub-option ${code}: ${data.length} bytes`);
    parts.push(Uint8Array.of(code, data.length), data);
  }
  if (marks === "padded") parts.push(Uint8Array.of(255));
  return Buffer.concat(parts);
}
