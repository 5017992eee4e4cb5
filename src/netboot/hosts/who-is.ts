import { readFile } from "node:fs/promises";
import { type Mac, parseMac } from "../../base/mac.ts";
import type { Host } from "./host.ts";

/** Which machine has an address, as far as the server can tell by itself. */
export type WhoIs = (address: string) => Promise<Mac | undefined>;

export interface WhoIsSources {
  /** The holder of a lease of ours; asked first. */
  leased?: (address: string) => Mac | undefined;
  /** The text of the kernel's table of neighbours; `/proc/net/arp` unless told otherwise. */
  neighbours?: () => Promise<string>;
}

/** Whoever sends a packet to us is in the table of neighbours by then, unless a router stands between. */
export function whoIs({ leased, neighbours = arpTable }: WhoIsSources = {}): WhoIs {
  return async (asked) => {
    const address = plainAddress(asked);
    return leased?.(address) ?? neighbourOf(address, await neighbours());
  };
}

/** Whether the address is known to be another host's than `name`. Of addresses that nobody knows it says nothing. */
export async function isAnothers(
  address: string,
  name: string | undefined,
  { who, hosts }: { who: WhoIs; hosts: { get(mac: Mac): Readonly<Host> | undefined } },
): Promise<boolean> {
  const mac = await who(address);
  const holder = mac === undefined ? undefined : hosts.get(mac);
  return holder !== undefined && holder.name !== name;
}

/** IPv4 as such, however a socket for both families shows it. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Completed entries only (flag 0x2, linux/if_arp.h `ATF_COM`). */
function neighbourOf(address: string, table: string): Mac | undefined {
  for (const line of table.split("\n")) {
    const [ip, , flags, mac = ""] = line.split(/\s+/);
    if (ip === address && (Number(flags) & 2) !== 0 && mac !== "00:00:00:00:00:00") return parseMac(mac);
  }
  return undefined;
}

function arpTable(): Promise<string> {
  return readFile("/proc/net/arp", "utf8").catch(() => "");
}
