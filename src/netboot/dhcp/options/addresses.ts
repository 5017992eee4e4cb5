import type { Ipv4 } from "../wire/ipv4.ts";
import { Malformed } from "../wire/malformed.ts";
import { decodeU32, encodeU32 } from "./numbers.ts";

/** Options that are one address or a list of them: 1, 3, 6, 7, 28, 42, 50, 54 (RFC 2132), 118 (RFC 3011), 150 (RFC 5859). */
export type Addresses = readonly Ipv4[];

/** Throws `Malformed` on a length that is not a multiple of four, or nothing. */
export function decode(bytes: Uint8Array): Ipv4[] {
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw new Malformed("address list", `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i));
}

/** The single address of options 50, 54 and 118. */
export function decodeOne(bytes: Uint8Array): Ipv4 {
  if (bytes.length !== 4) throw new Malformed("address", `${bytes.length} bytes`);
  return decodeU32(bytes);
}

/** Four bytes an address, in network order. */
export function encode(addresses: Addresses): Uint8Array {
  if (addresses.length === 1) return encodeU32(addresses[0]!);
  return Uint8Array.from(addresses.flatMap((address) => [...encodeU32(address)]));
}
