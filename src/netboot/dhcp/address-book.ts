import type { Client } from "./client.ts";
import type { Mode } from "./config.ts";
import type { Via } from "./leases/lease.ts";
import type { LeaseTable } from "./leases/table.ts";
import type { Reservations } from "./reservations.ts";
import { inSubnet, type Subnet } from "./subnet.ts";
import type { Ipv4 } from "./wire/ipv4.ts";

/** The client that an address is looked for, and the subnet that it is in. */
export interface Seeker {
  client: Client;
  subnet: Subnet;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface AddressSources {
  mode: Mode;
  reservations: Reservations;
  leases: LeaseTable;
  /** The server's own addresses. */
  us: readonly Ipv4[];
  /** The relay that the client asks through. */
  via?: Via | undefined;
}

/** Answers which address is whose, from reservations, leases and pools together. Changes nothing. */
export class AddressBook {
  readonly #mode: Mode;
  readonly #reservations: Reservations;
  readonly #leases: LeaseTable;
  readonly #us: readonly Ipv4[];
  readonly #via: Via | undefined;

  constructor({ mode, reservations, leases, us, via }: AddressSources) {
    this.#mode = mode;
    this.#reservations = reservations;
    this.#leases = leases;
    this.#us = us;
    this.#via = via;
  }

  /**
   * Why the client can't have the address in its subnet now; undefined: it can. `asked`: it asks this server for it, which comes before
   * an offer to a client that has not.
   */
  obstacle(seeker: Seeker, address: Ipv4, { asked = false } = {}): string | undefined {
    const { client, subnet, now } = seeker;
    if (!inSubnet(subnet, address)) return "it is not in the client's network";
    const own = this.#reservations.of(client.mac)?.address;
    const holder = this.#reservations.holderOf(address);
    if (own !== undefined && own !== address) return "another address is reserved for the client";
    if (own === undefined && holder !== undefined) return "it is reserved for another machine";
    if (this.#isInfrastructure(address, subnet)) return "it is not for clients";
    if (own === undefined && (this.#mode !== "pool" || !subnet.pool.contains(address)))
      return "it is not for this client";
    const isTaken = this.#leases.takenUntil(address, client.key, now) > 0;
    if (isTaken && !(asked && this.#leases.isMerelyOffered(address, now))) return "it is in use";
    return own === undefined ? this.#crowded(seeker) : undefined;
  }

  /** Whether it is this server's to say who has the address. Of all others it does not speak. */
  owns(address: Ipv4, subnet: Subnet, now: number): boolean {
    if (this.#reservations.holderOf(address) !== undefined) return true;
    if (this.#mode === "pool" && subnet.pool.contains(address)) return true;
    const held = this.#leases.at(address);
    return held !== undefined && held.expiresAt > now;
  }

  /**
   * The address for a client that has none: its reservation; else what it has or had; else what it asks for; else the pool's next.
   * `because` says why there is none.
   */
  choose(seeker: Seeker, asked: Ipv4 | undefined): { address: Ipv4 } | { address: undefined; because: string } {
    const { client, subnet, now } = seeker;
    const reserved = this.#reservations.of(client.mac)?.address;
    if (reserved !== undefined) {
      const because = this.obstacle(seeker, reserved);
      return because === undefined
        ? { address: reserved }
        : { address: undefined, because: `its reserved address can't be given: ${because}` };
    }
    if (this.#mode !== "pool") return { address: undefined, because: "no address is reserved for it" };
    const because = this.#crowded(seeker);
    if (because !== undefined) return { address: undefined, because };
    const { pool } = subnet;
    for (const address of [this.#leases.of(client.key)?.address, asked])
      if (address !== undefined && this.obstacle(seeker, address) === undefined) {
        pool.offered(address);
        return { address };
      }
    const takenUntil = (each: Ipv4): number => this.#unavailableUntil(each, seeker);
    const address =
      pool.take(takenUntil, now, this.#leases.freedEarly) ??
      pool.takeOffered((each) => this.#leases.isMerelyOffered(each, now) && !this.#isOthers(each, subnet));
    if (address !== undefined) pool.offered(address);
    return address === undefined ? { address, because: "the pool is used up" } : { address };
  }

  /** Addresses that clients without one get next, as things stand. */
  *next(subnet: Subnet, now: number): Iterable<Ipv4> {
    if (this.#mode !== "pool") return;
    for (const address of subnet.pool.ahead())
      if (!this.#isOthers(address, subnet) && this.#leases.takenUntil(address, "", now) === 0) yield address;
  }

  #unavailableUntil(address: Ipv4, { client, subnet, now }: Seeker): number {
    if (this.#isOthers(address, subnet)) return Number.POSITIVE_INFINITY;
    return this.#leases.takenUntil(address, client.key, now);
  }

  /** Why no further client behind the same port of the relay gets an address. */
  #crowded({ client, subnet, now }: Seeker): string | undefined {
    if (this.#via?.circuit === undefined) return undefined;
    const behind = this.#leases.behind(this.#via, client.key, now);
    // Without the number: logs report each reason once an hour.
    return behind < subnet.leasesPerPort ? undefined : "its port of its relay has as many leases as it may have";
  }

  #isOthers(address: Ipv4, subnet: Subnet): boolean {
    return this.#reservations.holderOf(address) !== undefined || this.#isInfrastructure(address, subnet);
  }

  #isInfrastructure(address: Ipv4, subnet: Subnet): boolean {
    return subnet.infrastructure.has(address) || this.#us.includes(address);
  }
}
