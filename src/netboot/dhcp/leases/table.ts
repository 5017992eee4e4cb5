import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore, Via } from "./lease.ts";

/** A lease, or an address that was offered and not yet asked for: only memory knows of offers. */
export type Held = Lease | (Omit<Lease, "state"> & { state: "offered" });

/** Addresses that a client may have said to be in use elsewhere, at one time. */
const MOST_DECLINED = 8;

/** Long enough for firmware that waits 32 s for more offers. */
const OFFER_MS = 60_000;

/**
 * Who has which address: all leases in memory, each change durable before it is reported. A client has one lease here, its newest.
 * Grows no larger than the addresses that may be given out.
 */
export class LeaseTable {
  readonly #store: LeaseStore;
  readonly #byAddress = new Map<Ipv4, Held>();
  /** Of each client, the newest last. Before it stand only leases that may be living: in other networks. */
  readonly #byClient = new Map<string, readonly Held[]>();
  /** Addresses that are declined, by client; of each address at most one. */
  readonly #declined = new Map<string, Set<Ipv4>>();
  /** Addresses that were given through each port of a relay. */
  readonly #byPort = new Map<string, Set<Ipv4>>();
  /** Addresses of which the newest word is lost, until there is another. */
  readonly #doubtful: Set<Ipv4>;
  #freedEarly = 0;

  constructor(store: LeaseStore) {
    this.#store = store;
    this.#doubtful = new Set(store.doubtful);
    for (const lease of store.load().sort((a, b) => a.expiresAt - b.expiresAt)) this.#set(lease);
  }

  /** What is known of the address; it may have expired. */
  at(address: Ipv4): Held | undefined {
    return this.#byAddress.get(address);
  }

  /** How often an address came free, or is to come free, earlier than it was held before: given back, declined, or bound for a shorter time. */
  get freedEarly(): number {
    return this.#freedEarly;
  }

  /** Leases that have not ended. */
  bound(now: number): Lease[] {
    return [...this.#byAddress.values()].filter(
      (held): held is Lease => held.state === "bound" && held.expiresAt > now,
    );
  }

  /** Whether what is known of the address is out of date, so that another device may use it. */
  isDoubtful(address: Ipv4): boolean {
    return this.#doubtful.has(address);
  }

  /** The newest of the client's leases; it may have expired. */
  of(client: string): Held | undefined {
    return this.#byClient.get(client)?.at(-1);
  }

  /** Whether it was offered to a client that has not asked for it yet. */
  isMerelyOffered(address: Ipv4, now: number): boolean {
    const held = this.#byAddress.get(address);
    return held?.state === "offered" && held.expiresAt > now;
  }

  /** How many living leases there are behind the port of the relay, those of `client` not counted. */
  behind(via: Via, client: string, now: number): number {
    const port = this.#byPort.get(portOf(via));
    let count = 0;
    for (const address of port ?? []) {
      const held = this.#byAddress.get(address)!;
      if (held.state !== "bound" || held.expiresAt <= now) port!.delete(address);
      else if (held.client !== client) count++;
    }
    return count;
  }

  /** Whether the client may decline one more address. */
  mayDecline(client: string, now: number): boolean {
    let living = 0;
    for (const address of this.#declined.get(client) ?? []) if (this.#byAddress.get(address)!.expiresAt > now) living++;
    return living < MOST_DECLINED;
  }

  /** Clients with an address that they declined, or that was found in use when it was to be theirs. */
  get decliners(): number {
    return this.#declined.size;
  }

  /** The moment until which only `client` may have the address; 0 when it may have it now. */
  takenUntil(address: Ipv4, client: string, now: number): number {
    const held = this.#byAddress.get(address);
    if (held === undefined || held.expiresAt <= now) return 0;
    return held.client === client && held.state !== "declined" ? 0 : held.expiresAt;
  }

  /** Keeps the address for the client until it asks for it. A binding of its own stays as it is. */
  offer(address: Ipv4, client: string, now: number): void {
    const held = this.#byAddress.get(address);
    if (held?.client === client && held.state === "bound" && held.expiresAt > now) return;
    this.#set({ address, client, state: "offered", expiresAt: now + OFFER_MS });
  }

  /** Takes back an offer that the client did not take up. */
  withdraw(client: string, now: number): void {
    const held = this.of(client);
    if (held?.state === "offered" && held.expiresAt > now) this.#set({ ...held, expiresAt: now });
  }

  /**
   * Gives the address to the client; a lease of another address of the same network that it has ends with that. Resolves when it is durable:
   * not before then is the client answered.
   */
  async bind(
    { address, client, expiresAt, via }: Omit<Lease, "state">,
    network: { now: number; has(address: Ipv4): boolean },
  ): Promise<void> {
    const { now, has } = network;
    const before = (this.#byClient.get(client) ?? []).filter(
      (held) => held.state === "bound" && held.expiresAt > now && held.address !== address && has(held.address),
    );
    await Promise.all([
      this.#keep({ address, client, state: "bound", expiresAt, ...(via && { via }) }),
      ...before.map((held) => this.#keep({ ...(held as Lease), state: "released", expiresAt: now })),
    ]);
  }

  /** Ends the client's lease; it gets the same address again while that is free. */
  release(address: Ipv4, client: string, now: number): Promise<void> {
    const via = this.#byAddress.get(address)?.via;
    return this.#keep({ address, client, state: "released", expiresAt: now, ...(via && { via }) });
  }

  /** Leaves the address alone until `expiresAt`. */
  decline(address: Ipv4, client: string, expiresAt: number): Promise<void> {
    return this.#keep({ address, client, state: "declined", expiresAt });
  }

  #keep(lease: Lease): Promise<void> {
    this.#doubtful.delete(lease.address);
    this.#set(lease);
    return this.#store.put(lease);
  }

  #set(held: Held): void {
    const { address, client } = held;
    const before = this.#byAddress.get(address);
    if (before !== undefined) this.#forget(before);
    if (before !== undefined && held.expiresAt < before.expiresAt) this.#freedEarly++;
    this.#byAddress.set(address, held);
    if (held.state === "bound" && held.via?.circuit !== undefined) this.#portOf(held.via).add(address);
    if (held.state === "declined") {
      this.#declined.set(client, (this.#declined.get(client) ?? new Set()).add(address));
      return;
    }
    const others = this.#byClient.get(client);
    // What a client gave back counts as its lease while it is the newest that is known of it.
    if (others === undefined) this.#byClient.set(client, [held]);
    else if (held.state === "released") this.#byClient.set(client, [...others]);
    else this.#byClient.set(client, [...others.filter(({ state }) => state === "bound"), held]);
  }

  #forget({ address, client, state, via }: Held): void {
    if (state === "declined") {
      const declined = this.#declined.get(client);
      declined?.delete(address);
      if (declined?.size === 0) this.#declined.delete(client);
      return;
    }
    const others = this.#byClient.get(client);
    const left = others?.filter((each) => each.address !== address) ?? [];
    if (left.length > 0) this.#byClient.set(client, left);
    else if (others !== undefined) this.#byClient.delete(client);
    if (via === undefined) return;
    const port = this.#byPort.get(portOf(via));
    port?.delete(address);
    if (port?.size === 0) this.#byPort.delete(portOf(via));
  }

  #portOf(via: Via): Set<Ipv4> {
    const port = this.#byPort.get(portOf(via)) ?? new Set();
    this.#byPort.set(portOf(via), port);
    return port;
  }
}

function portOf({ giaddr, circuit }: Via): string {
  return `${giaddr}/${circuit ?? ""}`;
}
