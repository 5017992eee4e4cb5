import type { Mac } from "@slipway/base";
import type { Inventory, Order, Progress, Result } from "../protocol/messages.ts";
import type { TpmIdentity } from "../tpm/identify.ts";
import type { Session } from "./presence.ts";

/** Given by `slipway approve`. */
export interface Approval {
  /** Milliseconds since 1970. */
  at: number;
  /** Fingerprint of the agent's key: it holds for the boot that made that key. Absent: for the host. */
  key?: string;
  /** Endorsement key of the TPM that it had proven then: it holds for the machine with that TPM, and for no other. */
  tpm?: string;
}

/** A machine that was seen on the network. Times are milliseconds since 1970. */
export interface Host {
  /** `host-52-54-00-12-34-56`: by the card that was seen first. Never changes. */
  readonly name: string;
  readonly mac: Mac;
  /** The card that it came up with and those that it proved to have; never one that it merely names. */
  macs: readonly Mac[];
  firstSeen: number;
  lastSeen: number;
  /** Its address when it was seen last. */
  address?: string;
  architecture?: "x86_64" | "aarch64";
  firmware?: "bios" | "uefi";
  /** What it boots next. */
  boot: BootAction;
  /** What its maker calls it, once it has reported. */
  product?: string;
  /** Read from the disk when it is asked for; no copy of a host has it. */
  readonly inventory?: Inventory;
  inventoryAt?: number;
  /** Of the agent that registered last; undefined: it made none. */
  agentKey?: string;
  /** Of the agent that registered last. */
  session?: Session;
  /** What the agent that registered last has proven of the machine's TPM; absent: nothing, or there is none. */
  tpm?: TpmIdentity;
  approval?: Approval;
  /** By card, the relay's port (option 82) that it registered through first, or when it was approved last. */
  ports?: Readonly<Record<Mac, string>>;
  /** Given last; `result` once it has ended. */
  order?: GivenOrder;
  /** Given last; `result` once it has ended. While it has not, the host boots the installer. */
  install?: GivenInstall;
}

export interface GivenOrder {
  is: Order;
  givenAt: number;
  takenAt?: number;
  progress?: Progress;
  result?: Result;
  endedAt?: number;
}

/** An installer that the host starts from the network, once. Times are milliseconds since 1970. */
export interface GivenInstall {
  id: string;
  givenAt: number;
  /** It reports its end. Else its owner decides. */
  reports: boolean;
  /** It fetches files from here. */
  hasFiles: boolean;
  /** The address that the installer gives the machine, where it asks for no lease. */
  address?: string;
  /** When the machine was given what starts it, first and last. */
  servedAt?: number;
  servedLastAt?: number;
  /** By file, when it was fetched first, and from where. */
  fetched?: Readonly<Record<string, { at: number; from: string }>>;
  result?: Pick<Result, "ok" | "message">;
  endedAt?: number;
}

/**
 * `agent`: Slipway's agent, in memory. `disk`: nothing from us, so that the firmware goes on to the disk. `wait`: stay in the boot loader
 * until this changes. `chain`: a script of the user's own, an iPXE script or a GRUB configuration by its URL.
 */
export type BootAction = "agent" | "disk" | "wait" | { chain: string };

/** What a machine boots now: what was chosen, or an installer once. */
export type NextBoot = BootAction | "installer";

/**
 * What becomes of a host. That it was merely seen again is no change. `into`: it turned out to be that other host. `refused`: someone
 * tried to act in its name, or claims what it owns; the host itself has not changed.
 */
export type HostChange =
  | { is: "changed"; host: Host }
  | { is: "gone"; name: string; into?: string }
  | { is: "refused"; host: Host; because: string };

/** What is known of each machine as it is kept: values, never changed in place. */
export interface HostRecord {
  readonly host: Readonly<Omit<Host, "inventory">>;
  /** Where it was seen first (`Heard.source`). Absent: `link`. */
  readonly source?: string;
  /** What its inventory takes on the disk. */
  readonly inventoryBytes?: number;
  /** SHA-256 of the token that the agent got when it registered last. */
  readonly tokenHash?: string;
  /** By which capability its boot registered (its SHA-256). */
  readonly cameBy?: string;
  /** Somebody said what it boots; else the usual holds. */
  readonly bootChosen: boolean;
}

/** What a host is called by a card of its own: a name that Kubernetes takes. */
export function hostName(mac: Mac): string {
  return `host-${mac.replaceAll(":", "-")}`;
}

/** Whether it may be forgotten to make room for another: it has reported nothing, and no user has decided anything about it. */
export function isMerelySeen({ host, bootChosen }: HostRecord): boolean {
  return host.inventoryAt === undefined && host.order === undefined && !bootChosen;
}

/** The host with the key of the agent that registers now, or none, in the place of the one before. What that has proven counts no more. */
export function withAgentKey(
  { agentKey: _before, tpm: _proven, ...host }: HostRecord["host"],
  agentKey: string | undefined,
): HostRecord["host"] {
  return agentKey === undefined ? host : { ...host, agentKey };
}

/** The installation that has no result yet. */
export function openInstall(host: Pick<Host, "install">): GivenInstall | undefined {
  return host.install?.result === undefined ? host.install : undefined;
}

/** The order that has no result yet. */
export function openOrder(host: Pick<Host, "order">): GivenOrder | undefined {
  return host.order?.result === undefined ? host.order : undefined;
}
