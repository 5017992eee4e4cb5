/** A claimant whose journal is the status of an object: the writing of it, which objects of every kind have in common. */
import { isoTime } from "@slipway/base";
import type { Context, Reported, StatusFields, StatusRecord } from "@slipway/kube";
import type { Claimant, Entry, PreparedBoot } from "./claimant.ts";
import type { Fleet } from "./fleet.ts";
import type { Claim, Journal } from "./lifecycle.ts";
import type { Concern, Machine, Order } from "./machine.ts";
import { bootField, installField, type JournalStatus, purchaseField, writeBesideMachine } from "./status-journal.ts";

type ReleaseField = { reason: string; at: string; accepted?: boolean | undefined };

/** The status fields that a claimant writes. */
export interface ClaimantStatus extends JournalStatus {
  release?: ReleaseField | undefined;
  failureReason?: string | undefined;
  failureMessage?: string | undefined;
}

interface Claiming extends Reported {
  status?: ClaimantStatus;
}

/** What a kind of object says of its claim stands in a class of its own that extends this one. */
export abstract class StatusClaimant<T extends Claiming> implements Claimant {
  protected readonly context: Context;
  readonly #record: StatusRecord<T>;
  readonly #describe: (machine: Machine) => StatusFields<T>;

  /** `describe`: the status as it should read with a machine that was just bought. */
  constructor(context: Context, record: StatusRecord<T>, describe: (machine: Machine) => StatusFields<T>) {
    this.context = context;
    this.#record = record;
    this.#describe = describe;
  }

  protected get object(): T {
    return this.#record.object;
  }

  abstract get on(): string;
  abstract get claim(): Claim;
  abstract get journal(): Journal;
  abstract concerns(): readonly Concern[];
  abstract order(wanted: Parameters<Claimant["order"]>[0]): Order;
  abstract prepareBoot(): Promise<PreparedBoot>;
  abstract discardBoot(): Promise<void>;
  abstract unmarked(fleet: Fleet): Promise<readonly Machine[]>;
  /** What else is written with the announcement of an order. */
  protected abstract ordering(): object;
  /** What else is written of a machine that was bought. */
  protected abstract bought(entry: Entry & { is: "bought" }): object;

  async flush() {
    await this.#record.write();
  }

  async write(entry: Entry) {
    const record = this.#record;
    if (entry.is !== "bought" && entry.is !== "booted") await record.write(this.#fields(entry));
    else
      await writeBesideMachine(record, {
        ...{ entry, on: this.on },
        journal: () => this.journal,
        note: () => this.#note(entry),
      });
  }

  #note(entry: Entry): void {
    this.#record.note(this.#fields(entry));
    if (entry.is === "bought") this.#record.note(this.#describe(entry.machine));
  }

  normal(reason: string, message: string) {
    this.context.events.normal(this.object, reason, message);
  }

  warning(reason: string, message: string) {
    this.context.events.warning(this.object, reason, message);
  }

  #fields(entry: Entry): StatusFields<T> {
    return this.#entryFields(entry) as StatusFields<T>;
  }

  #entryFields(entry: Entry): object {
    const { status } = this.object;
    switch (entry.is) {
      case "ordering":
        return {
          ...this.ordering(),
          purchase: purchaseField(entry.purchase),
          boot: bootField(entry.boot, false),
          install: installField(status?.install, entry.boot),
        };
      case "orderFailed":
        return { purchase: entry.purchase && purchaseField(entry.purchase) };
      case "orderRefused":
        return { purchase: purchaseField(entry.purchase) };
      case "bought": {
        const { purchase, boot } = status ?? {};
        return {
          ...this.bought(entry),
          ...(purchase !== undefined && { purchase: { ...purchase, state: "Done" as const } }),
          ...(boot !== undefined && { boot: { ...boot, sent: true } }),
        };
      }
      case "booting":
        return { boot: bootField(entry.boot, true), install: installField(status?.install, entry.boot) };
      case "booted":
        return { boot: bootField(entry.boot, true) };
      case "bootDiscarded":
        return { boot: undefined };
      case "lost":
        return { failureReason: entry.reason, failureMessage: entry.message };
      case "released": {
        const now = isoTime(this.context.clock.now());
        return { release: { reason: "Deleted", at: now, ...status?.release, accepted: true } };
      }
    }
  }
}
