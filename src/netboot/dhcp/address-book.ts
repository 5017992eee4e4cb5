import type { Client } from "./client.ts";
import type { Mode } from "./config.ts";
import type { Via } from "./leases/lease.ts";
import type { LeaseTable } from "./leases/table.ts";
import type { Reservations } from "./reservations.ts";
import { inSubnet, type Subnet } from "./subnet.ts";
import type { Ipv4 } from "./wire/ipv4.ts";

/** Answers which address is whose, from reservations, leases and pools together. Changes nothing. */
export class AddressBook {
  readonly #mode: Mode;
  readonly #reservations: Reservations;
  readonly #leases: LeaseTable;
  readonly #us: readonly Ipv4[];
  readonly #via: Via | undefined;

  /** `via`: the relay that the client asks through. */
  constructor(mode: Mode, reservations: Reservations, leases: LeaseTable, us: readonly Ipv4[], via?: Via) {
    this.#mode = mode;
    this.#reservations = reservations;
    this.#leases = leases;
    this.#us = us;
    this.#via = via;
  }

  /**
   * Why the client can't have the address in this subnet now; undefined: it can. `asked`: it asks this server for it, which comes before
   * an offer to a client that has not.
   */
  obstacle(client: Client, address: Ipv4, subnet: Subnet, now: number, asked = false): string | undefined {
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
    return own === undefined ? this.#crowded(client, subnet, now) : undefined;
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
  choose(
    client: Client,
    asked: Ipv4 | undefined,
    subnet: Subnet,
    now: number,
  ): { address: Ipv4 } | { address: undefined; because: string } {
    const reserved = this.#reservations.of(client.mac)?.address;
    if (reserved !== undefined) {
      const because = this.obstacle(client, reserved, subnet, now);
      return because === undefined
        ? { address: reserved }
        : { address: undefined, because: `its reserved address can't be given: ${because}` };
    }
    if (this.#mode !== "pool") return { address: undefined, because: "no address is reserved for it" };
    const because = this.#crowded(client, subnet, now);
    if (because !== undefined) return { address: undefined, because };
    const { pool } = subnet;
    for (const address of [this.#leases.of(client.key)?.address, asked])
      if (address !== undefined && this.obstacle(client, address, subnet, now) === undefined) {
        pool.offered(address);
        return { address };
      }
    const takenUntil = (each: Ipv4): number => this.#unavailableUntil(each, client, subnet, now);
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

  #unavailableUntil(address: Ipv4, client: Client, subnet: Subnet, now: number): number {
    if (this.#isOthers(address, subnet)) return Number.POSITIVE_INFINITY;
    return this.#leases.takenUntil(address, client.key, now);
  }

  /** Why no further client behind the same port of the relay gets an address. */
  #crowded(client: Client, subnet: Subnet, now: number): string | undefined {
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
