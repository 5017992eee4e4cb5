import { Malformed } from "../wire/malformed.ts";

/**
 * Option 97, client machine identifier (RFC 4578 §2.3): type 0 and a 16-byte GUID. Returned as a UUID in text, with the first three
 * fields turned from the little-endian order of SMBIOS; undefined for the all-zero one that machines without an identity send.
 */
export function decode(bytes: Uint8Array): string | undefined {
  if (bytes.length !== 17 || bytes[0] !== 0)
    throw new Malformed("option 97", `type ${bytes[0]}, ${bytes.length} bytes`);
  const hex = Buffer.from(swap(bytes.subarray(1))).toString("hex");
  if (/^0+$/.test(hex)) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function swap(guid: Uint8Array): number[] {
  return [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((i) => guid[i]!);
}
