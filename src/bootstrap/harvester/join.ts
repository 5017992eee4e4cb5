import type { ArtifactSource } from "./version.ts";

/** Which part a node plays; `worker` is never promoted to a manager. */
export const ROLES = ["default", "management", "worker", "witness"] as const;
export type Role = (typeof ROLES)[number];

/** A network card, by what is known of it. */
export type Interface = { hwAddr: string } | { name: string };

export const BOND_MODES = [
  "balance-rr",
  "active-backup",
  "balance-xor",
  "broadcast",
  "802.3ad",
  "balance-tlb",
  "balance-alb",
] as const;

/** The management network: how the node reaches its cluster. */
export interface Management {
  /**
   * Cards to bond, known from the provider's API. Unset: the card that the machine booted from.
   * They stand in one place only, kernel arguments or configuration: the installer would append one list to the other.
   */
  interfaces?: readonly Interface[];
  method: "dhcp" | "static";
  /** IPv4, all three with method `static`. */
  ip?: string;
  subnetMask?: string;
  gateway?: string;
  /** `mode`, `miimon`, …: options of Linux bonding. */
  bondOptions?: Readonly<Record<string, string>>;
  mtu?: number;
  vlanId?: number;
}

/** A call that the installer makes when it begins, has ended well, or has failed. */
export interface InstallerWebhook {
  event: "STARTED" | "SUCCEEDED" | "FAILED";
  url: string;
  method?: "POST" | "PUT" | "GET";
  headers?: Readonly<Record<string, readonly string[]>>;
  payload?: string;
  /** Skip verification of the server's certificate. */
  insecure?: boolean;
}

/** Everything a machine must know to install Harvester and join a cluster. */
export interface HarvesterJoin extends ArtifactSource {
  /** `https://<VIP>`, port 443 or none, no path. */
  serverUrl: string;
  /** The cluster's join token. */
  token: string;
  /** Becomes the Node's name. */
  hostname: string;
  /** Of the user `rancher`: clear text or a `$6$` hash. */
  password?: string;
  sshAuthorizedKeys?: readonly string[];
  dnsNameservers?: readonly string[];
  ntpServers?: readonly string[];
  /** Labels of the Node. */
  labels?: Readonly<Record<string, string>>;
  /** `default` unless said; known since 1.3. */
  role?: Role;
  /** Joins unschedulable; known since 1.9. */
  cordoned?: boolean;
  /** The installation's disk: `/dev/sda`, `/dev/disk/by-id/…`. */
  device: string;
  dataDisk?: string;
  wipeAllDisks?: boolean;
  /** Serial console with its speed: `ttyS1,115200n8`. */
  tty: string;
  management: Management;
  /** Go on when the hardware is smaller than recommended; known since 1.2. */
  skipChecks?: boolean;
  webhooks?: readonly InstallerWebhook[];
}
