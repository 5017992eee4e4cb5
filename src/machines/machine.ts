/**
 * The machine port: the one interface under Instance, PacketMachine and PlunderMachine.
 *
 * A driver talks to one provider account and knows nothing of Kubernetes objects. A machine carries the id of the
 * claim it was made for from its first request on, so that a lost answer never buys a second one.
 */

import type { LabelSelector } from "@slipway/kube";
import type { ElasticAddresses } from "./elastic.ts";

/** What a provider says of a machine, in one word; `providerState` keeps its own. */
export type Phase =
  /** Accepted, hardware not yet handed over. */
  | "building"
  /** Powered and given to the user: it may still be installing; the provider can't know. */
  | "running"
  | "reinstalling"
  | "stopped"
  /** Being taken back; still billed or still visible. */
  | "releasing"
  | "failed"
  /** A state the driver does not know: waited on, within the deadline. */
  | "unknown";

export interface Machine {
  /** The provider's id. */
  id: string;
  /** Id of the claim it was made for; undefined: not made by Slipway (or by the original operator). */
  claim: string | undefined;
  hostname: string;
  phase: Phase;
  /** The provider's own word: `queued`, `active`, `failed_deployment`. */
  providerState: string;
  plan: string | undefined;
  metro: string | undefined;
  addresses: readonly Address[];
  ports: readonly Port[];
  /** The provider refuses to delete it. */
  locked: boolean;
  /** When the provider will take it back by itself (spot revocation), ms since the epoch. */
  terminatesAt: number | undefined;
  /** 0–100, where the provider reports it. */
  progress: number | undefined;
  /** The newest thing the provider reported, for the user to read. */
  lastEvent: string | undefined;
  createdAt: number | undefined;
  /** MAC address that it boots from, where that is known. */
  bootMac?: string | undefined;
  /** The provider's labels of it, without the claim's mark. Unset: it has none, or they are not read. */
  tags?: readonly string[];
}

export interface Address {
  address: string;
  family: 4 | 6;
  public: boolean;
  /** The address the machine itself is reached at, not an extra block. */
  management: boolean;
}

export interface Port {
  id: string;
  name: string;
  kind: "bond" | "physical";
  mac: string | undefined;
  bonded: boolean;
  /** Name of the bond this port belongs to. */
  bond: string | undefined;
  networkType: string | undefined;
  disbondable: boolean;
  /** Numbers of the assigned VLANs, as strings. */
  vlans: readonly string[];
  nativeVlan: string | undefined;
}

export const NETWORK_MODES = ["layer3", "layer2-bonded", "layer2-individual", "hybrid", "hybrid-bonded"] as const;
export type NetworkMode = (typeof NETWORK_MODES)[number];

/** How a machine's ports should stand. VLANs are numbers or provider ids, as strings. */
export interface NetworkWish {
  mode: NetworkMode | undefined;
  vlans: readonly { port: string; vlans: readonly string[] }[];
  /** Create VLANs that don't exist in the machine's metro yet. */
  createVlans?: boolean;
}

/** An object that claims a machine. Its uid is the claim. */
export interface Claimed {
  apiVersion: string;
  kind: string;
  name: string;
  /** Of kinds that have one. */
  namespace?: string;
}

/** Where a machine may be bought. */
export interface Placement {
  plan: string;
  metro: string | undefined;
  facility?: readonly string[];
  /** Id of a reserved machine to take there, or `next-available`. */
  reservation?: string;
}

/** Which host an order may have, for providers whose machines are there before they are ordered. All that is said must hold. */
export interface HostChoice {
  /** MAC addresses of which a card of the host has one. Undefined: any. */
  macs?: readonly string[];
  labels?: LabelSelector;
  hardware?: HostHardware;
}

/** What a host must have at least, as a manifest says it. */
export interface HostHardware {
  cpus?: number | undefined;
  /** `64Gi`. */
  memory?: string | undefined;
  /** Of the largest disk: `400G`. */
  disk?: string | undefined;
  architecture?: string | undefined;
}

/** Everything a machine is ordered with. Fields a driver can't express are refused by `MachineDriver.check`. */
export interface Order {
  claim: string;
  /** The object that claims, for providers that keep a reference to it. */
  claimant: Claimed;
  /** Whose machines belong together: a pool. Providers that can spread them. */
  group?: string | undefined;
  hostname: string;
  /** The plan may be empty where a host is chosen. */
  placement: Placement;
  host?: HostChoice;
  operatingSystem: string;
  billingCycle?: string;
  projectId?: string;
  boot: Boot;
  tags: readonly string[];
  description?: string;
  /** `maxPrice` per hour, as a decimal string; unset: the provider's own limit. */
  spot?: { maxPrice?: string };
  /** Id of a reserved machine, or `next-available`. */
  reservation?: string;
  userSshKeys?: readonly string[];
  projectSshKeys?: readonly string[];
  /** Public keys themselves, for the machine alone. */
  sshPublicKeys?: readonly string[];
  noSshKeys?: boolean;
  features?: Readonly<Record<string, string>>;
  /** JSON text. */
  customData?: string;
  publicIPv4SubnetSize?: number;
  alwaysPxe?: boolean;
}

/** What a machine boots with. */
export interface Boot {
  scriptUrl: string;
  /** Where the machine's cloud-init finds its bootstrap data, with its final slash; unset: nowhere. */
  seedUrl?: string;
  /** Empty: none. */
  userData: string;
  /**
   * Asked by providers whose machines are there before they are ordered, before a machine may begin to boot: by the MAC address that it boots from.
   * The last one that was asked for is the machine's.
   */
  forHost?(mac: string): Promise<void>;
}

export interface Capabilities {
  networkModes: readonly NetworkMode[];
  spot: boolean;
  reservations: boolean;
  reinstall: boolean;
  locks: boolean;
  /** What is ordered as user data reaches the machine, by a metadata service or the like. */
  userData: boolean;
}

/** What a machine boots from the network in the place of an operating system that its provider would install. */
export interface NetworkImage {
  kernel: string;
  initrd: string;
  /** Beside what says where the bootstrap data are. */
  kernelArguments: readonly string[];
}

/** How a machine is given back. */
export interface Release {
  /** Without regard to what the provider would wait for. */
  force: boolean;
  /** Why it did not serve, for providers that remember it; undefined: it did, or nobody knows. */
  failure?: string;
}

/** A thing about an order that the provider can't or won't do; reported to the user as a warning, or refused. */
export interface Concern {
  /** Path in the manifest: `spec.facility`. */
  field: string;
  message: string;
  fatal: boolean;
}

/** What a machine costs, as its provider lists it: on demand, before taxes and discounts. */
export interface Price {
  hourly: number;
  currency: "USD";
}

/**
 * One provider account. Every call has a timeout, obeys 429 and Retry-After within it, and fails with a `Fault`:
 * `NoCapacity`, `BadCredentials`, `Throttled` (with `retryAfterMs`), `Unavailable`, `LostAnswer` (a write that may have had its effect),
 * `Locked`, `Invalid` (the order itself; terminal), `NotFound`.
 */
export interface MachineDriver {
  /** `equinix`, `latitude`, … */
  readonly type: string;
  readonly capabilities: Capabilities;
  /** What about this order the provider would refuse or ignore. Pure. */
  check(order: Order): readonly Concern[];
  /** Whether this order could be served now. Absent where only an order shows it. Asks nobody, so it may be a moment old. */
  couldServe?(order: Order): Promise<boolean>;
  /** What a machine there costs; undefined: no price is listed for it. Absent where the provider has no prices. A look of its own at each call. */
  priceOf?(placement: Placement, signal?: AbortSignal): Promise<Price | undefined>;
  /** Names of the machines that could serve the order now, for providers whose machines are there before they are ordered. */
  candidates?(order: Order): Promise<readonly string[]>;
  /** Addresses that move between machines. Absent where the provider has none. */
  readonly elastic?: ElasticAddresses;
  /** What boots as an operating system, of providers that install none. Undefined: the name is not known. */
  imageOf?(operatingSystem: string): NetworkImage | "onDisk" | undefined;
  /** All machines of the account, every page. One call per page of up to 250 or more. */
  list(signal?: AbortSignal): Promise<readonly Machine[]>;
  /** Undefined: the provider knows no such machine. */
  read(id: string, signal?: AbortSignal): Promise<Machine | undefined>;
  /** Every machine that carries the claim, asked of the provider now: the look before a create. */
  find(claim: string, signal?: AbortSignal): Promise<readonly Machine[]>;
  /** Buys a machine. Not repeated inside: after `LostAnswer` the caller looks. */
  create(order: Order, signal?: AbortSignal): Promise<Machine>;
  /** Sets what the next boot of an existing machine gets. */
  configure(id: string, boot: Partial<Boot>, signal?: AbortSignal): Promise<void>;
  /** Installs anew, from the network; data on other disks is kept. */
  reinstall(id: string, boot: Boot, signal?: AbortSignal): Promise<void>;
  /** Marks a foreign machine with a claim, as `create` does. Absent where the provider keeps no marks on machines. */
  tag?(id: string, claim: string, signal?: AbortSignal): Promise<void>;
  power(id: string, action: "on" | "off" | "cycle", signal?: AbortSignal): Promise<void>;
  /** Whether nothing is left to do to the machine's ports. Pure. */
  networkSettled(machine: Machine, wish: NetworkWish): boolean;
  /** Makes the calls that are missing, and only those; returns the machine as it is then. May return before it is settled: call again. */
  setNetwork(machine: Machine, wish: NetworkWish, signal?: AbortSignal): Promise<Machine>;
  /** What proves that a machine which was given back is wiped, in words; undefined: nothing does. Absent where its end is proof enough. */
  proofOf?(id: string, signal?: AbortSignal): Promise<string | undefined>;
  /** Gives the machine back. Resolves when the provider accepted it, or knows no such machine. */
  release(id: string, options: Release, signal?: AbortSignal): Promise<void>;
  /** Removes what an order has left behind whose machine never came, or is gone by itself. Absent where orders leave nothing. */
  forget?(claim: string, signal?: AbortSignal): Promise<void>;
}
