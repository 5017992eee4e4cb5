import { Malformed } from "../wire/malformed.ts";

/** Option 119, domain search list (RFC 3397): names as in DNS. Written without compression, read with it. */
export function encode(domains: readonly string[]): Uint8Array {
  return Buffer.concat(domains.flatMap((domain) => [...domain.split(".").map(label), Uint8Array.of(0)]));
}

/** Throws `Malformed` for a name that does not end within the option or within 255 bytes. */
export function decode(bytes: Uint8Array): string[] {
  const out: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { name, next } = nameAt(bytes, at);
    out.push(name);
    at = next;
  }
  return out;
}

function label(text: string): Buffer {
  if (text.length === 0 || text.length > 63 || /[^\x21-\x7e]/.test(text))
    throw new RangeError(`DNS label ${JSON.stringify(text.slice(0, 64))}`);
  return Buffer.from([text.length, ...Buffer.from(text, "latin1")]);
}

/** A pointer must lead to an earlier place than any before it, so no chain of them is endless; names end at 255 bytes (RFC 1035 §2.3.4). */
function nameAt(bytes: Uint8Array, start: number): { name: string; next: number } {
  const labels: string[] = [];
  let at = start;
  let earliest = start;
  let next: number | undefined;
  for (let size = 0; size <= 255; ) {
    const length = bytes[at];
    if (length === 0) return { name: labels.join("."), next: next ?? at + 1 };
    if (length === undefined) break;
    if (length >= 0xc0) {
      const target = ((length & 0x3f) << 8) | (bytes[at + 1] ?? 0xff);
      if (target >= earliest) break;
      next ??= at + 2;
      earliest = target;
      at = target;
      continue;
    }
    if (length > 63 || at + 1 + length > bytes.length) break;
    labels.push(Buffer.from(bytes.subarray(at + 1, at + 1 + length)).toString("latin1"));
    size += 1 + length;
    at += 1 + length;
  }
  throw new Malformed("option 119", "a name that does not end");
}
