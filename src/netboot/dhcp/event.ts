import type { Client } from "./client.ts";
import type { Via } from "./leases/lease.ts";
import type { Ipv4 } from "./wire/ipv4.ts";

/** What happened, for discovery, logs and counters. `seen` comes for every client that is read, answered or not. `via`: the relay that it came through. */
export type DhcpEvent =
  | { is: "seen"; client: Client; via?: Via }
  | { is: "bound"; client: Client; address: Ipv4; expiresAt: number; via?: Via }
  | { is: "released"; client: Client; address: Ipv4 }
  | { is: "declined"; client: Client; address: Ipv4 }
  /** On our own link, where no relay may have asked several servers on purpose, it takes what another server offers. */
  | { is: "elsewhere"; client: Client; server: Ipv4 }
  | { is: "inUse"; address: Ipv4 }
  | { is: "refused"; client: Client; address: Ipv4; because: string }
  | { is: "noAddress"; client: Client; subnet: string; because: string };

export type DhcpListener = (event: DhcpEvent) => void;
