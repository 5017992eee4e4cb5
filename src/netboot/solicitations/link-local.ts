import { type Mac, macFromBytes } from "@slipway/base";

/**
 * The card that formed a link-local address from its own (RFC 4291, appendix A), as boot loaders do. `address`: 32 hexadecimal digits.
 * Undefined for every other address.
 */
export function macOfLinkLocal(address: string): Mac | undefined {
  const parts = /^fe80000000000000([0-9a-f]{6})fffe([0-9a-f]{6})$/.exec(address);
  if (parts === null) return undefined;
  const bytes = Buffer.from(`${parts[1]}${parts[2]}`, "hex");
  bytes[0]! ^= 0x02;
  return macFromBytes(bytes);
}
