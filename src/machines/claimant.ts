/**
 * Who claims a machine, as the executor sees it: an object of any kind that keeps a journal. The executor buys, boots and releases;
 * the claimant decides what is ordered and what the machine boots with, and writes down what was done.
 */
import type { Clock } from "@slipway/base";
import type { Fleet } from "./fleet.ts";
import type { Claim, Journal, LossReason } from "./lifecycle.ts";
import type { Boot, Capabilities, Concern, Machine, Order, Placement } from "./machine.ts";

/** A boot that may be ordered: what the provider gets, and the name that the machine's signals carry. */
export interface PreparedBoot extends Boot {
  id: string;
  /** ms since 1970. */
  at: number;
  /** Makes it ready to be fetched, in the place of any earlier one of the claim. Only after the journal names it. */
  publish(): Promise<void>;
}

export type Purchase = NonNullable<Journal["purchase"]>;
export type BootEntry = NonNullable<Journal["boot"]>;

/** What the executor has written into the journal. */
export type Entry =
  /** Announces an order: nothing was sent yet. */
  | { is: "ordering"; purchase: Purchase; boot: BootEntry }
  /** The provider has surely sold nothing: the purchase is what it was before. */
  | { is: "orderFailed"; purchase: Purchase | undefined }
  /** The provider has no capacity there. */
  | { is: "orderRefused"; purchase: Purchase }
  /** The claim's machine. Must not get lost because others write on the object meanwhile. */
  | { is: "bought"; machine: Machine; provider: string }
  /** Announces an installation anew: nothing was sent yet. */
  | { is: "booting"; boot: BootEntry }
  /** The provider took the boot. Must not get lost because others write on the object meanwhile. */
  | { is: "booted"; boot: BootEntry }
  /** The machine needs nothing of its boot any more. */
  | { is: "bootDiscarded" }
  /** The machine will not come, or will not stay. `at`: ms since 1970. */
  | { is: "lost"; reason: LossReason; message: string; at: number }
  /** The provider accepted the release. */
  | { is: "released" };

export interface Claimant {
  /** As messages name it: `Instance/rack-abcdefgh`. */
  readonly on: string;
  readonly claim: Claim;
  /** What is written down by now. */
  readonly journal: Journal;
  /** What about the claim can't work at a provider that can do so much. */
  concerns(provider: Pick<Capabilities, "userData">): readonly Concern[];
  /** The order number `attempt` (from 1) for this placement. Pure. */
  order(wanted: { placement: Placement; attempt: number; boot: Boot }): Order;
  /** Composes the boot of this pass. `machine`: where it is known already. */
  prepareBoot(wanted: { pass: 1 | 2; machine?: Machine }): Promise<PreparedBoot>;
  /** Removes what was prepared for the machine's boot. */
  discardBoot(fleet: Fleet): Promise<void>;
  /** Machines of the claim that carry no mark of it. */
  unmarked(fleet: Fleet): Promise<readonly Machine[]>;
  /**
   * Writes an entry, with all that is waiting to be written, guarded by the version of the object that was decided on. Rejects with
   * `Conflict` where that is not the newest one: nothing that the entry announces may be done then.
   */
  write(entry: Entry): Promise<void>;
  /** Writes what is waiting to be written. */
  flush(): Promise<void>;
  /** Events on the object. */
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** One claimant's machine at one provider account, for the time of one step. */
export interface Job {
  claimant: Claimant;
  fleet: Fleet;
  clock: Pick<Clock, "now">;
  signal: AbortSignal;
}
