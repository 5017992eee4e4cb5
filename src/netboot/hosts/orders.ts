import { type Clock, Fault, type Random, uuid } from "@slipway/base";
import type { Order, OrderBody, Progress, Result } from "../protocol/messages.ts";
import type { HostBook } from "./book.ts";
import type { Disputes } from "./disputes.ts";
import { type GivenOrder, type Host, type HostRecord, openOrder } from "./host.ts";
import { bounded } from "./results.ts";
import type { Standings } from "./standings.ts";
import { needsTrust, UNREAD } from "./trust.ts";

export interface OrdersPorts {
  book: HostBook;
  standings: Standings;
  disputes: Disputes;
  clock: Pick<Clock, "now">;
  random: Random;
}

/** What hosts have to do, one order at a time each, and which agents wait for one. `Hosts` documents what the methods promise. */
export class Orders {
  readonly #book: HostBook;
  readonly #standings: Standings;
  readonly #disputes: Disputes;
  readonly #clock: Pick<Clock, "now">;
  readonly #random: Random;
  /** Wakes who waits for an order, by host. */
  readonly #waiting = new Map<string, () => void>();
  #closed = false;

  constructor({ book, standings, disputes, clock, random }: OrdersPorts) {
    this.#book = book;
    this.#standings = standings;
    this.#disputes = disputes;
    this.#clock = clock;
    this.#random = random;
  }

  give(nameOrMac: string, body: OrderBody | ((id: string) => OrderBody), wantedId?: string): Order {
    const record = this.#book.known(nameOrMac);
    const { order } = record.host;
    if (wantedId !== undefined && order?.is.id === wantedId) {
      // The same files are offered again: this process may have begun after the order was given.
      if (typeof body === "function" && order.result === undefined) body(wantedId);
      return order.is;
    }
    const open = openOrder(record.host);
    if (open !== undefined)
      throw new Fault("Conflict", record.host.name, `its order "${open.is.order}" has no result yet`, {
        remedy: `wait for its end, or: slipway order cancel ${record.host.name}`,
      });
    const id = wantedId ?? uuid(this.#random);
    const is: Order = { id, ...(typeof body === "function" ? body(id) : body) };
    this.demandTrust(record.host.name, is);
    this.#book.change(record, { order: { is, givenAt: this.#clock.now() } });
    this.wake(record.host.name);
    return is;
  }

  isOpen(name: string, id: string): boolean {
    return this.#open(name, id) !== undefined;
  }

  async next(name: string, signal: AbortSignal): Promise<Order | undefined> {
    const asking = this.#book.known(name);
    this.wake(name);
    if (this.#mayHave(asking) === undefined && !signal.aborted && !this.#closed) await this.#wait(name, signal);
    const record = this.#book.find(name);
    const order = record && this.#mayHave(record);
    if (order === undefined || signal.aborted || this.#closed) return undefined;
    if (order.takenAt === undefined) this.#book.change(record!, { order: { ...order, takenAt: this.#clock.now() } });
    return order.is;
  }

  progress(name: string, id: string, progress: Progress): boolean {
    const open = this.#open(name, id);
    if (open === undefined) return false;
    const { record, order } = open;
    this.#book.change(record, { order: { ...order, progress }, lastSeen: this.#clock.now() }, { durability: "soon" });
    return true;
  }

  result(name: string, id: string, result: Result): boolean {
    const open = this.#open(name, id);
    if (open === undefined) return false;
    this.#book.change(open.record, { order: { ...open.order, result: bounded(result), endedAt: this.#clock.now() } });
    return true;
  }

  demandTrust(nameOrMac: string, order: Pick<Order, "order">): void {
    const { host } = this.#book.known(nameOrMac);
    const { trust, because } = this.#standings.of(host);
    if (trust === "discovered" && needsTrust(order))
      throw new Fault("Forbidden", host.name, `it is not trusted with the order "${order.order}": ${because}`, {
        remedy: `slipway approve host/${host.name}`,
      });
  }

  /** Ends the wait for an order of this host. */
  wake(name: string): void {
    this.#waiting.get(name)?.();
  }

  /** The order that it was not trusted with may be its now; who waits for another goes on waiting. */
  trustChanged({ host }: HostRecord): void {
    if (openOrder(host) !== undefined) this.wake(host.name);
  }

  /** Ends every wait. */
  close(): void {
    this.#closed = true;
    for (const wake of this.#waiting.values()) wake();
  }

  /** The order without a result, where the host is trusted with it. */
  #mayHave({ host }: HostRecord): GivenOrder | undefined {
    const order = openOrder(host);
    if (order === undefined || !needsTrust(order.is)) return order;
    const standing = this.#standings.of(host);
    const { trust, because } = standing;
    if (trust !== "discovered") return order;
    // Nobody is refused who merely has to wait until the cluster is read.
    if (standing !== UNREAD)
      this.#disputes.refuse(host, `the order "${order.is.order}" is not handed over: ${because}`);
    return undefined;
  }

  #open(name: string, id: string): { record: HostRecord; order: NonNullable<Host["order"]> } | undefined {
    const record = this.#book.find(name);
    const order = record && openOrder(record.host);
    return order?.is.id === id ? { record: record!, order } : undefined;
  }

  #wait(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        if (this.#waiting.get(name) === wake) this.#waiting.delete(name);
        resolve();
      };
      signal.addEventListener("abort", wake);
      this.#waiting.set(name, wake);
    });
  }
}
