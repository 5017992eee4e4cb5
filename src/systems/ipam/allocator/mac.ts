/** MAC addresses as numbers of 48 bits. Pure. */
import { Fault } from "@slipway/base";

/** Reads six bytes in hexadecimal, separated by colons. Throws a `Fault` (`Invalid`) that names the field. */
export function parseMac(text: string, field: string): bigint {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text))
    throw new Fault("Invalid", field, `${JSON.stringify(text)} is no MAC address`, {
      remedy: "write six bytes such as 02:00:00:00:00:00",
    });
  return BigInt(`0x${text.replaceAll(":", "")}`);
}

/** Writes it in lower case. Throws a `RangeError` beyond 48 bits. */
export function formatMac(value: bigint): string {
  if (value < 0n || value >> 48n !== 0n) throw new RangeError(`${value} is no MAC address`);
  return value
    .toString(16)
    .padStart(12, "0")
    .replace(/..(?!$)/g, "$&:");
}
