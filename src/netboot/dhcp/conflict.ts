import { createSocket } from "node:dgram";
import type { Clock, Mac } from "@slipway/base";
import { neighbours as kernelNeighbours } from "../sockets/neighbours.ts";
import type { InUse } from "./exchange.ts";
import type { Interface } from "./interface.ts";
import { formatIpv4, type Ipv4 } from "./wire/ipv4.ts";

export interface ConflictOptions {
  clock: Clock;
  /** The networks whose machines can be asked. An address behind a relay can't, and counts as free. */
  interfaces: readonly Interface[];
  /** Makes the kernel look for the address. */
  probe?: (address: string) => void;
  neighbours?: () => ReadonlyMap<string, Mac>;
}

/** A machine on an Ethernet answers within a few milliseconds; so long is waited for none. */
const WAIT_MS = 100;
const BETWEEN_LOOKS_MS = 20;

/**
 * Each absent address is an entry in the kernel's table of neighbours for three seconds, and that table is small (512 until it is swept).
 * Beyond this many at once an address counts as free: a rack that powers on together is not kept waiting, and clients check for themselves.
 */
const MOST_AT_ONCE = 16;

/** Nothing listens at the discard port, and what does throws it away (RFC 863). */
const DISCARD_PORT = 9;

/**
 * Whether a machine other than the client already has an address (RFC 2131 §3.1 step 2), without privileges: a datagram makes the kernel
 * ask for the address by ARP, and its table of neighbours then shows who answered. `close` frees the socket.
 */
export function conflictCheck({ clock, interfaces, ...given }: ConflictOptions): { inUse: InUse; close(): void } {
  const { neighbours = kernelNeighbours } = given;
  const socket = given.probe === undefined ? createSocket("udp4") : undefined;
  // A network that is down is no conflict.
  socket?.on("error", () => {});
  const probe = given.probe ?? ((address) => socket!.send(new Uint8Array(), DISCARD_PORT, address));
  let looking = 0;
  /** Read once for all who look at about the same time. */
  let table: { readAt: number; holders: ReadonlyMap<string, Mac> } = {
    readAt: Number.NEGATIVE_INFINITY,
    holders: new Map(),
  };
  const holders = (): ReadonlyMap<string, Mac> => {
    const now = clock.monotonic();
    if (now - table.readAt >= BETWEEN_LOOKS_MS / 2) table = { readAt: now, holders: neighbours() };
    return table.holders;
  };

  const look = async (address: string, client: Mac | undefined): Promise<boolean> => {
    probe(address);
    for (let waited = 0; waited < WAIT_MS; waited += BETWEEN_LOOKS_MS) {
      await clock.sleep(BETWEEN_LOOKS_MS);
      const holder = holders().get(address);
      if (holder !== undefined) return holder !== client;
    }
    return false;
  };
  return {
    async inUse(address, client) {
      if (looking >= MOST_AT_ONCE || !interfaces.some((each) => isOn(each, address))) return false;
      looking++;
      try {
        return await look(formatIpv4(address), client);
      } finally {
        looking--;
      }
    },
    close: () => void socket?.close(),
  };
}

function isOn({ addresses }: Interface, address: Ipv4): boolean {
  return addresses.some((own) => (own.address & own.mask) === (address & own.mask));
}
