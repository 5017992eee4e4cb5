import { Malformed } from "../wire/malformed.ts";

/** Option 53, DHCP message type (RFC 2132 §9.6). */
export const MESSAGE = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

/** Reads one byte; what it means is the reader's to judge, since later RFCs define more. */
export function decode(bytes: Uint8Array): number {
  if (bytes.length !== 1) throw new Malformed("option 53", `${bytes.length} bytes`);
  return bytes[0]!;
}

/** One byte. */
export function encode(type: number): Uint8Array {
  return Uint8Array.of(type);
}
