import { Malformed } from "../wire/malformed.ts";

/**
 * Option 93, client system architecture (RFC 4578 §2.1; numbers as in IANA's registry that RFC 5970 §3.3 opened).
 * One or more 16-bit numbers; the first is the one the firmware prefers.
 */
export type Architectures = readonly [number, ...number[]];

/** Throws `Malformed` on an empty or odd length. */
export function decode(bytes: Uint8Array): Architectures {
  if (bytes.length === 0 || bytes.length % 2 !== 0) throw new Malformed("option 93", `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const all = Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i));
  return all as [number, ...number[]];
}

/** What a boot file must be made for. */
export type Platform = "bios" | "ia32" | "x64" | "arm32" | "arm64" | "riscv32" | "riscv64" | "rpi";

/** The platform of an architecture number. Undefined: one that we can boot nothing on. */
export function platformOf(architecture: number): Platform | undefined {
  return PLATFORMS[architecture];
}

/** 9 and 17 are EBC; firmware that sends them is x64 all the same. */
const PLATFORMS: Readonly<Record<number, Platform>> = {
  0: "bios",
  6: "ia32",
  7: "x64",
  9: "x64",
  10: "arm32",
  11: "arm64",
  15: "ia32",
  16: "x64",
  17: "x64",
  18: "arm32",
  19: "arm64",
  20: "bios",
  25: "riscv32",
  26: "riscv32",
  27: "riscv64",
  28: "riscv64",
  41: "rpi",
};
