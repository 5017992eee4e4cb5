/** Options that are text: 12, 15, 56, 60, 66, 67 (RFC 2132). Latin-1, so that every byte survives; zeros at the end are no part of it (RFC 2132 §2). */
export function decode(bytes: Uint8Array): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return Buffer.from(bytes.buffer, bytes.byteOffset, end).toString("latin1");
}

/** Throws a `RangeError` on characters beyond Latin-1: no client reads them. */
export function encode(text: string): Uint8Array {
  if (/[^\0-\xff]/.test(text)) throw new RangeError(`DHCP text ${JSON.stringify(text.slice(0, 64))}: not Latin-1`);
  return Buffer.from(text, "latin1");
}
