import { Malformed } from "../wire/malformed.ts";

/** Option 94, client network interface (RFC 4578 §2.2): type 1 is UNDI, with the version it implements. */
export interface NetworkInterface {
  type: number;
  major: number;
  minor: number;
}

export function decode(bytes: Uint8Array): NetworkInterface {
  if (bytes.length !== 3) throw new Malformed("option 94", `${bytes.length} bytes`);
  return { type: bytes[0]!, major: bytes[1]!, minor: bytes[2]! };
}

export function encode({ type, major, minor }: NetworkInterface): Uint8Array {
  return Uint8Array.of(type, major, minor);
}
