import { Malformed } from "./malformed.ts";

const PAD = 0;
const END = 255;
const LONGEST_PART = 255;

/** Options by code, each with all of its bytes. The order is the order of importance when a reply has to be cut. */
export type Options = Map<number, Uint8Array>;

/**
 * Reads one area of options into `into`. An option that comes several times is one long option (RFC 3396 §5).
 * A missing end marker is accepted; an option that reaches beyond the area throws `Malformed`.
 */
export function readOptions(area: Uint8Array, where: string, into: Options): void {
  let at = 0;
  while (at < area.length) {
    const code = area[at]!;
    at += 1;
    if (code === PAD) continue;
    if (code === END) return;
    const length = area[at];
    if (length === undefined || at + 1 + length > area.length)
      throw new Malformed(`option ${code}`, `it reaches beyond the ${where}`);
    const part = area.subarray(at + 1, at + 1 + length);
    const before = into.get(code);
    into.set(code, before === undefined ? part : Buffer.concat([before, part]));
    at += 1 + length;
  }
}

/** How many bytes an option takes, its codes and lengths included. */
export function sizeOf(data: Uint8Array): number {
  return data.length + 2 * Math.max(1, Math.ceil(data.length / LONGEST_PART));
}

/** Writes an option at `at`, in parts of 255 bytes where it is longer (RFC 3396 §7), and returns where the next one goes. */
export function writeOption(target: Uint8Array, at: number, code: number, data: Uint8Array): number {
  let to = at;
  let from = 0;
  do {
    const part = data.subarray(from, from + LONGEST_PART);
    target[to] = code;
    target[to + 1] = part.length;
    target.set(part, to + 2);
    to += 2 + part.length;
    from += LONGEST_PART;
  } while (from < data.length);
  return to;
}
