import type { Clock, Random, Timer } from "@slipway/base";
import { type BackOff, backOffMs } from "./back-off.ts";
import { DueHeap } from "./due-heap.ts";
import { type Item, ReadyList } from "./ready-list.ts";

/** `change`: the object was changed. `again`: a delayed or repeated try. `resync`: the initial list and whatever can wait. */
export type Priority = "change" | "again" | "resync";

const LEVEL: Readonly<Record<Priority, number>> = { change: 0, again: 1, resync: 2 };

/** One pick in this many goes to each of the less urgent lists, so that no key waits for ever. */
const FAIR_SHARE = 16;

const DEFAULT_BACK_OFF: BackOff = { baseMs: 5, maxMs: 5 * 60_000, jitter: 0 };

/** Called as things happen; times are in milliseconds of the queue's clock. */
export interface QueueHooks {
  added?(priority: Priority): void;
  taken?(waitedMs: number): void;
  finished?(workedMs: number): void;
  retried?(): void;
}

export interface QueueOptions {
  clock: Clock;
  random: Random;
  backOff?: BackOff;
  hooks?: QueueHooks;
  /** Called when a key became ready to be taken. Must not throw. */
  onReady?: () => void;
}

/**
 * Keys that want work. A key stands in it once however often it is added; a key that is being worked on is handed out again only
 * after `done`, and then only if it was added meanwhile. Taking a key ends its pending delay, since the work decides anew.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backOff: BackOff;
  readonly #hooks: QueueHooks | undefined;
  readonly #onReady: () => void;
  readonly #items = new Map<string, Item>();
  readonly #ready = [new ReadyList(), new ReadyList(), new ReadyList()] as const;
  readonly #due = new DueHeap();
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #active = 0;
  #picks = 0;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#backOff = options.backOff ?? DEFAULT_BACK_OFF;
    this.#hooks = options.hooks;
    this.#onReady = options.onReady ?? (() => {});
  }

  /** Keys ready to be taken. */
  get length(): number {
    return this.#ready[0].length + this.#ready[1].length + this.#ready[2].length;
  }

  /** Keys handed out and not yet done. */
  get active(): number {
    return this.#active;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#due.live;
  }

  /** Makes the key ready, now or as soon as the work on it is done. A more urgent priority wins over an earlier, lesser one. */
  add(key: string, priority: Priority = "change"): void {
    if (this.#closed) return;
    const item = this.#item(key);
    this.#due.drop(item);
    this.#makeReady(item, LEVEL[priority]);
    this.#hooks?.added?.(priority);
  }

  /** Makes the key ready after `ms`. Of several delays the earliest counts; a key that is ready already stays so. */
  addAfter(key: string, ms: number, priority: Priority = "again"): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key, priority);
      return;
    }
    const item = this.#item(key);
    if (item.list !== undefined || item.dirty >= 0) return;
    this.#due.push(item, this.#clock.monotonic() + ms, LEVEL[priority]);
    this.#arm();
  }

  /** Makes the key ready after its back-off, which doubles with each call until `forget`, and not before `atLeastMs`. Returns the delay. */
  retry(key: string, atLeastMs = 0): number {
    const item = this.#item(key);
    const ms = Math.max(atLeastMs, backOffMs(this.#backOff, item.failures++, this.#random));
    this.#hooks?.retried?.();
    this.addAfter(key, ms);
    return ms;
  }

  /** Sets the key's back-off back to the beginning. */
  forget(key: string): void {
    const item = this.#items.get(key);
    if (item === undefined) return;
    item.failures = 0;
    this.#collect(item);
  }

  /** The next key, or undefined when none is ready. The taker calls `done` for it, whatever happens. */
  take(): string | undefined {
    const list = this.#pick();
    if (list === undefined) return undefined;
    const item = list.shift()!;
    item.active = true;
    this.#active++;
    if (this.#hooks !== undefined) {
      const now = this.#clock.monotonic();
      this.#hooks.taken?.(now - item.since);
      item.since = now;
    }
    return item.key;
  }

  /** Ends the work on a key. It becomes ready at once if it was added meanwhile. */
  done(key: string): void {
    const item = this.#items.get(key);
    if (item === undefined || !item.active) throw new RangeError(`queue: ${key} is not being worked on`);
    item.active = false;
    this.#active--;
    if (this.#hooks !== undefined) this.#hooks.finished?.(this.#clock.monotonic() - item.since);
    if (item.dirty >= 0) {
      const level = item.dirty;
      item.dirty = -1;
      this.#makeReady(item, level);
    } else this.#collect(item);
  }

  /** Drops what waits and refuses what comes; work in progress may still be ended by `done`. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#due.clear();
    for (const list of this.#ready) while (list.shift() !== undefined);
  }

  #item(key: string): Item {
    let item = this.#items.get(key);
    if (item === undefined) {
      item = {
        key,
        failures: 0,
        since: 0,
        active: false,
        dirty: -1,
        list: undefined,
        before: undefined,
        after: undefined,
        dueAt: -1,
        dueLevel: 0,
      };
      this.#items.set(key, item);
    }
    return item;
  }

  #makeReady(item: Item, level: number): void {
    if (item.active) {
      if (item.dirty < 0 || level < item.dirty) item.dirty = level;
      return;
    }
    const list = this.#ready[level]!;
    if (item.list === undefined) {
      if (this.#hooks !== undefined) item.since = this.#clock.monotonic();
      list.push(item);
      this.#onReady();
    } else if (level < this.#ready.indexOf(item.list as ReadyList)) {
      item.list.remove(item);
      list.push(item);
    }
  }

  #pick(): ReadyList | undefined {
    const [first, second, third] = this.#ready;
    const lowest = third.length > 0 ? third : second.length > 0 ? second : first;
    const highest = first.length > 0 ? first : second.length > 0 ? second : third;
    if (highest.length === 0) return undefined;
    const turn = ++this.#picks % FAIR_SHARE;
    if (turn === FAIR_SHARE / 2 && second.length > 0) return second;
    return turn === 0 ? lowest : highest;
  }

  /** An item without a state worth keeping is forgotten, so the queue's memory follows its work. */
  #collect(item: Item): void {
    const idle = !item.active && item.list === undefined && item.dueAt < 0;
    if (idle && item.failures === 0) this.#items.delete(item.key);
  }

  #arm(): void {
    const next = this.#due.nextAt;
    if (next === undefined || next >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next;
    this.#timer = this.#clock.after(next - this.#clock.monotonic(), () => this.#onTime());
  }

  #onTime(): void {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    for (let item = this.#due.take(now); item !== undefined; item = this.#due.take(now)) {
      this.#makeReady(item, item.dueLevel);
      this.#hooks?.added?.("again");
    }
    this.#arm();
  }
}
