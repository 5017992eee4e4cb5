import type { BootFiles } from "./boot.ts";

/**
 * `pool`: addresses for everybody; `reservations`: for known machines only, silence for all others; `proxy`: no addresses, only
 * what to boot, beside another DHCP server; `off`: no answer at all.
 */
export type Mode = "pool" | "reservations" | "proxy" | "off";

/** The server's settings. Addresses are text; `compileSubnets` checks them. */
export interface DhcpConfig {
  mode: Mode;
  /** The networks that addresses are given in. Not needed by `proxy`. */
  subnets: readonly SubnetConfig[];
  boot: BootFiles;
}

export interface SubnetConfig {
  /** `10.0.0.0/24`. */
  network: string;
  pools: readonly { first: string; last: string }[];
  gateway?: string;
  nameServers?: readonly string[];
  domain?: string;
  searchDomains?: readonly string[];
  timeServers?: readonly string[];
  logServers?: readonly string[];
  mtu?: number;
  /** Beside the gateway. */
  routes?: readonly { network: string; gateway: string }[];
  leaseSeconds?: number;
  /** For firmware and iPXE, which use an address for minutes. */
  bootLeaseSeconds?: number;
  /** Leases behind one port of a relay, as option 82 names it; seven eighths of the pools by default. */
  leasesPerPort?: number;
  /** How long a declined or conflicting address is left alone. */
  quarantineSeconds?: number;
}
