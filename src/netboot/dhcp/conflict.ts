import { createSocket } from "node:dgram";
import type { Clock, Mac } from "@slipway/base";
import { neighbours as kernelNeighbours } from "../sockets/neighbours.ts";
import type { Expect, InUse } from "./exchange.ts";
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

/** So many clients may wait in a second. What is looked at ahead of time costs none of them anything. */
const MOST_WAITS = 16;

/** What was seen at an address that nobody was offered yet holds for so long. */
const FRESH_MS = 30_000;

/** Nothing listens at the discard port, and what does throws it away (RFC 863). */
const DISCARD_PORT = 9;

/** One look at an address: who answered there, and when that was known. */
interface Look {
  holder: Promise<Mac | undefined>;
  /** Undefined: it goes on. */
  seen?: { holder: Mac | undefined; at: number };
}

/**
 * Whether a machine other than the client already has an address (RFC 2131 §3.1 step 2), without privileges: a datagram makes the kernel
 * ask for the address by ARP, and its table of neighbours then shows who answered. Addresses that are expected to be offered are looked at
 * ahead of time, so that of clients that come one after the other only the first waits. `close` frees the socket.
 */
export function conflictCheck(options: ConflictOptions): { inUse: InUse; expect: Expect; close(): void } {
  const socket = options.probe === undefined ? createSocket("udp4") : undefined;
  // A network that is down is no conflict.
  socket?.on("error", () => {});
  const probe = options.probe ?? ((address) => socket!.send(new Uint8Array(), DISCARD_PORT, address));
  const looks = new Looks({ ...options, probe });
  return {
    inUse: (address, client) => looks.inUse(address, client),
    expect: (next) => looks.expect(next),
    close: () => void socket?.close(),
  };
}

class Looks {
  readonly #options: ConflictOptions & { probe: (address: string) => void };
  /** Of addresses that nobody was offered since. */
  readonly #looks = new Map<Ipv4, Look>();
  #going = 0;
  #waits = { since: Number.NEGATIVE_INFINITY, count: 0 };
  /** Read once for all who look at about the same time. */
  #table: { readAt: number; holders: ReadonlyMap<string, Mac> } = {
    readAt: Number.NEGATIVE_INFINITY,
    holders: new Map(),
  };

  constructor(options: ConflictOptions & { probe: (address: string) => void }) {
    this.#options = options;
  }

  async inUse(address: Ipv4, client: Mac | undefined): Promise<boolean> {
    if (!this.#isReachable(address)) return false;
    const before = this.#fresh(address);
    // Whoever is offered it may be gone the next time.
    this.#looks.delete(address);
    const holder = before?.seen === undefined ? await this.#waited(address, before) : before.seen.holder;
    return holder !== undefined && holder !== client;
  }

  expect(next: Iterable<Ipv4>): void {
    for (const address of this.#looks.keys()) this.#fresh(address);
    for (const address of next) {
      if (Math.max(this.#going, this.#looks.size) >= MOST_AT_ONCE || !this.#isReachable(address)) return;
      if (this.#fresh(address) === undefined) this.#looks.set(address, this.#look(address));
    }
  }

  /** Who answers there, if the client may wait for that. */
  async #waited(address: Ipv4, before: Look | undefined): Promise<Mac | undefined> {
    const now = this.#options.clock.monotonic();
    if (now - this.#waits.since >= 1000) this.#waits = { since: now, count: 0 };
    const mayLook = before !== undefined || this.#going < MOST_AT_ONCE;
    if (!mayLook || this.#waits.count >= MOST_WAITS) return undefined;
    this.#waits.count++;
    return (before ?? this.#look(address)).holder;
  }

  #fresh(address: Ipv4): Look | undefined {
    const look = this.#looks.get(address);
    const isOld = look?.seen !== undefined && this.#options.clock.monotonic() - look.seen.at >= FRESH_MS;
    if (isOld) this.#looks.delete(address);
    return isOld ? undefined : look;
  }

  #look(address: Ipv4): Look {
    this.#going++;
    const look: Look = {
      holder: this.#holderOf(formatIpv4(address)).then((holder) => {
        this.#going--;
        look.seen = { holder, at: this.#options.clock.monotonic() };
        return holder;
      }),
    };
    return look;
  }

  async #holderOf(address: string): Promise<Mac | undefined> {
    this.#options.probe(address);
    for (let waited = 0; waited < WAIT_MS; waited += BETWEEN_LOOKS_MS) {
      await this.#options.clock.sleep(BETWEEN_LOOKS_MS);
      const holder = this.#holders().get(address);
      if (holder !== undefined) return holder;
    }
    return undefined;
  }

  #holders(): ReadonlyMap<string, Mac> {
    const { clock, neighbours = kernelNeighbours } = this.#options;
    const now = clock.monotonic();
    if (now - this.#table.readAt >= BETWEEN_LOOKS_MS / 2) this.#table = { readAt: now, holders: neighbours() };
    return this.#table.holders;
  }

  #isReachable(address: Ipv4): boolean {
    return this.#options.interfaces.some(({ addresses }) =>
      addresses.some((own) => (own.address & own.mask) === (address & own.mask)),
    );
  }
}
