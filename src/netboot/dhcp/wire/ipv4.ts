import { parseIp } from "@slipway/base";

/** An IPv4 address as an unsigned 32-bit number: what a packet holds and what a pool counts with. */
export type Ipv4 = number;

export const ANY: Ipv4 = 0;
export const BROADCAST: Ipv4 = 0xffff_ffff;

/** An address as the kernel writes it. Faster than `parseIpv4`, and without a check. */
export function ipv4OfKernel(text: string): Ipv4 {
  let address = 0;
  let part = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit >= 0) part = 10 * part + digit;
    else {
      address = (address << 8) | part;
      part = 0;
    }
  }
  return ((address << 8) | part) >>> 0;
}

/** Reads dotted decimal. Throws a `RangeError` that names the text. */
export function parseIpv4(text: string): Ipv4 {
  const ip = parseIp(text);
  if (ip.family !== 4) throw new RangeError(`IPv4 address ${JSON.stringify(text)}: it is IPv6`);
  return Number(ip.value);
}

/** Dotted decimal. */
export function formatIpv4(address: Ipv4): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** The mask of a prefix length from 0 to 32, as a number. */
export function maskOf(prefix: number): number {
  return prefix === 0 ? 0 : (0xffff_ffff << (32 - prefix)) >>> 0;
}
