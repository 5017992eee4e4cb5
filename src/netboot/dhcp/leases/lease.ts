import type { Ipv4 } from "../wire/ipv4.ts";

/** The relay that a lease was given through, and its port for the client (RFC 3046) as hexadecimal digits where it names one. */
export interface Via {
  giaddr: Ipv4;
  circuit?: string;
  remote?: string;
}

/**
 * What is known of one address. `bound`: the client may use it until `expiresAt`; `released`: it gave it back, and gets it again
 * while no other client needs it; `declined`: another device was found using it, so it is left alone until `expiresAt`.
 */
export interface Lease {
  address: Ipv4;
  /** Who has or had it: `Client.key`. */
  client: string;
  state: "bound" | "released" | "declined";
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** Absent: it was given on our own link. */
  via?: Via;
}

/** The durable copy of the leases. */
export interface LeaseStore {
  /** Every lease as it was last put, by any process. */
  load(): Lease[];
  /** Addresses whose newest line is damaged: they may be in use. */
  readonly doubtful?: ReadonlySet<Ipv4>;
  /** Replaces what is known of an address. Resolves when that is on the disk; leases put shortly after each other are written together. */
  put(lease: Lease): Promise<void>;
  close(): void;
}
