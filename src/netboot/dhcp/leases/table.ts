import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore } from "./lease.ts";

/** A lease, or an address that was offered and not yet asked for: only memory knows of offers. */
export type Held = Lease | (Omit<Lease, "state"> & { state: "offered" });

/** Long enough for firmware that waits 32 s for more offers. */
const OFFER_MS = 60_000;

/**
 * Who has which address: all leases in memory, each change durable before it is told. A client has one lease here, its newest.
 * Grows no larger than the addresses that may be given out.
 */
export class LeaseTable {
  readonly #store: LeaseStore;
  readonly #byAddress = new Map<Ipv4, Held>();
  readonly #byClient = new Map<string, Held>();
  #freedEarly = 0;

  constructor(store: LeaseStore) {
    this.#store = store;
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

  /** The newest of the client's leases; it may have expired. */
  of(client: string): Held | undefined {
    return this.#byClient.get(client);
  }

  /** The moment until which nobody but `client` may have the address; 0 when it may have it now. */
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
    const held = this.#byClient.get(client);
    if (held?.state === "offered" && held.expiresAt > now) this.#set({ ...held, expiresAt: now });
  }

  /** Gives the address to the client. Resolves when that is durable: not before then may the client hear of it. */
  bind(address: Ipv4, client: string, expiresAt: number): Promise<void> {
    return this.#keep({ address, client, state: "bound", expiresAt });
  }

  /** Ends the client's lease; it gets the same address again while that is free. */
  release(address: Ipv4, client: string, now: number): Promise<void> {
    return this.#keep({ address, client, state: "released", expiresAt: now });
  }

  /** Leaves the address alone until `expiresAt`. */
  decline(address: Ipv4, client: string, expiresAt: number): Promise<void> {
    return this.#keep({ address, client, state: "declined", expiresAt });
  }

  #keep(lease: Lease): Promise<void> {
    this.#set(lease);
    return this.#store.put(lease);
  }

  #set(held: Held): void {
    const before = this.#byAddress.get(held.address);
    if (before !== undefined && this.#byClient.get(before.client) === before) this.#byClient.delete(before.client);
    if (before !== undefined && held.expiresAt < before.expiresAt) this.#freedEarly++;
    this.#byAddress.set(held.address, held);
    if (held.state !== "declined") this.#byClient.set(held.client, held);
  }
}
