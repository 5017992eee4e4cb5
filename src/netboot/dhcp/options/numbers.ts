import { Malformed } from "../wire/malformed.ts";

/** Seconds of options 51, 58 and 59: 32 bits, all ones for ever (RFC 2132 §9.2). */
export function decodeU32(bytes: Uint8Array): number {
  if (bytes.length !== 4) throw new Malformed("32-bit number", `${bytes.length} bytes`);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
}

/** Four bytes in network order. */
export function encodeU32(value: number): Uint8Array {
  // A view would need a buffer of its own, which costs more than all the rest of a reply.
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}

/** Sizes of options 26 and 57: 16 bits (RFC 2132 §5.1, §9.10). */
export function decodeU16(bytes: Uint8Array): number {
  if (bytes.length !== 2) throw new Malformed("16-bit number", `${bytes.length} bytes`);
  return new DataView(bytes.buffer, bytes.byteOffset, 2).getUint16(0);
}

/** Two bytes in network order. */
export function encodeU16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}
