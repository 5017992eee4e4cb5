import type { Mac } from "../../base/mac.ts";
import { neighbours as kernelNeighbours } from "../sockets/neighbours.ts";
import type { Host } from "./host.ts";

/** Which machine has an address, as far as the server can tell by itself. */
export type WhoIs = (address: string) => Promise<Mac | undefined>;

export interface WhoIsSources {
  /** The holder of a lease of ours; asked first. */
  leased?: (address: string) => Mac | undefined;
  /** The kernel's unless told otherwise. */
  neighbours?: () => ReadonlyMap<string, Mac>;
}

/** Whoever sends a packet to us is in the table of neighbours by then, unless a router stands between. */
export function whoIs({ leased, neighbours = kernelNeighbours }: WhoIsSources = {}): WhoIs {
  return async (asked) => {
    const address = plainAddress(asked);
    return leased?.(address) ?? neighbours().get(address);
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
