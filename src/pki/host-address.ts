import { formatIp, tryParseIp } from "@slipway/base";

const MAPPED_PREFIX = 0xffffn;

/**
 * An IP address as certificates hold it: in its canonical form, and an IPv4-mapped one (`::ffff:192.0.2.1`) as the IPv4 address that
 * Go's clients take it for. Undefined for what is no address.
 */
export function hostAddress(host: string): string | undefined {
  const ip = tryParseIp(host);
  if (ip === undefined) return undefined;
  const isMapped = ip.family === 6 && ip.value >> 32n === MAPPED_PREFIX;
  return formatIp(isMapped ? { family: 4, value: ip.value & 0xffff_ffffn } : ip);
}
