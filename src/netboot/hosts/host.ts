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
  order?: { is: Order; givenAt: number; takenAt?: number; progress?: Progress; result?: Result; endedAt?: number };
}

/** `agent`: Slipway's agent, in memory. `disk`: nothing from us, so that the firmware goes on to the disk. */
export type BootAction = "agent" | "disk";
