import type { Ipv4 } from "../wire/ipv4.ts";

/**
 * What is known of one address. `bound`: the client may use it until `expiresAt`; `released`: it gave it back, and gets it again
 * while nobody else needs it; `declined`: somebody else was found using it, so it is left alone until `expiresAt`.
 */
export interface Lease {
  address: Ipv4;
  /** Who has or had it: `Client.key`. */
  client: string;
  state: "bound" | "released" | "declined";
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** The durable copy of the leases. */
export interface LeaseStore {
  /** Every lease as it was last put, by any process. */
  load(): Lease[];
  /** Replaces what is known of an address. Resolves when that is on the disk; leases put shortly after each other are written together. */
  put(lease: Lease): Promise<void>;
  close(): void;
}
