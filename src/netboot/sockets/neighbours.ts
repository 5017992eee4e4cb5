import { readFileSync } from "node:fs";
import { type Mac, parseMac } from "@slipway/base";

/** No kernel keeps more than some thousand neighbours. */
const MOST_LINES = 20_000;

/** ATF_COM of Linux: the hardware address is known. */
const COMPLETE = 0x2;

/** What stands where a device has no hardware addresses. */
const NONE = "00:00:00:00:00:00";

/** Who answers at which IPv4 address of the networks this machine is on, or of one device's, as far as its kernel knows; addresses as text. */
export function neighbours(device?: string, table = "/proc/net/arp"): ReadonlyMap<string, Mac> {
  try {
    // The kernel writes it from memory; no disk is waited for.
    return parseArp(readFileSync(table, "utf8"), device);
  } catch {
    return new Map();
  }
}

/** Reads the kernel's table (proc(5), `/proc/net/arp`): address, hardware type, flags, hardware address, mask, device. */
export function parseArp(table: string, wanted?: string): Map<string, Mac> {
  const found = new Map<string, Mac>();
  for (const line of table.split("\n", MOST_LINES).slice(1)) {
    const [address, type, flags, mac, , device] = line.split(/\s+/);
    if (
      address === undefined ||
      mac === undefined ||
      mac === NONE ||
      type !== "0x1" ||
      (Number(flags) & COMPLETE) === 0 ||
      (wanted !== undefined && device !== wanted)
    )
      continue;
    found.set(address, parseMac(mac));
  }
  return found;
}
