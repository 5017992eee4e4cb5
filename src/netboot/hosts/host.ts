import type { Mac } from "../../base/mac.ts";
import type { Inventory, Order, Progress, Result } from "../agent/protocol.ts";

/** A machine that was heard on the network. Times are milliseconds since 1970. */
export interface Host {
  /** `host-52-54-00-12-34-56`: by the card that was heard first. Never changes. */
  readonly name: string;
  readonly mac: Mac;
  /** All its cards, once it has reported; before, the one. */
  macs: readonly Mac[];
  firstSeen: number;
  lastSeen: number;
  /** Its address when it was heard last. */
  address?: string;
  architecture?: "x86_64" | "aarch64";
  firmware?: "bios" | "uefi";
  /** What it boots next. */
  boot: BootAction;
  inventory?: Inventory;
  inventoryAt?: number;
  /** Given last; `result` once it has ended. */
  order?: GivenOrder;
}

export interface GivenOrder {
  is: Order;
  givenAt: number;
  takenAt?: number;
  progress?: Progress;
  result?: Result;
  endedAt?: number;
}

/**
 * `agent`: Slipway's agent, in memory. `disk`: nothing from us, so that the firmware goes on to the disk. `wait`: stay in the boot loader
 * until this changes. `chain`: a script of the user's own, an iPXE script or a GRUB configuration by its URL.
 */
export type BootAction = "agent" | "disk" | "wait" | { chain: string };

/** What becomes of a host. That it was merely seen again is no change. `into`: it turned out to be that other host. */
export type HostChange = { is: "changed"; host: Host } | { is: "gone"; name: string; into?: string };

/** What is known of each machine as it is kept: values, never changed in place. */
export interface HostRecord {
  readonly host: Readonly<Host>;
  /** SHA-256 of the token that the agent got when it registered last. */
  readonly tokenHash?: string;
  /** By which capability (its SHA-256) it registered last, and from which address. */
  readonly came?: { readonly by: string; readonly from: string };
  /** Somebody said what it boots; else the usual holds. */
  readonly bootChosen: boolean;
}

/** What a host is called by a card of its own: a name that Kubernetes takes. */
export function hostName(mac: Mac): string {
  return `host-${mac.replaceAll(":", "-")}`;
}

/** Whether it may be forgotten to make room for another: it has told nothing, and nobody has said anything about it. */
export function isMerelyHeard({ host, bootChosen }: HostRecord): boolean {
  return host.inventory === undefined && host.order === undefined && !bootChosen;
}

/** The order that has no result yet. */
export function openOrder(host: Readonly<Host>): GivenOrder | undefined {
  return host.order?.result === undefined ? host.order : undefined;
}
