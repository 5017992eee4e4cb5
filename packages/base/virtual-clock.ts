import { type Clock, sleepWith, type Timer } from "./clock.ts";
import { Heap } from "./heap.ts";
import { offLoopWork } from "./off-loop.ts";

interface Entry {
  at: number;
  order: number;
  fn: () => void;
  live: boolean;
}

const nothing = (): void => {};

/** So many rounds of timers at one instant are no work any more but a loop. */
const STANDSTILL = 20_000;

/**
 * A clock whose hours cost nothing: time stands still while work goes on and jumps to the next timer when
 * nothing else can run. It waits for `offLoop`'s work. What else leaves the process (sockets, files) is invisible to it: a virtual world
 * talks through direct calls only, or reports by `outside` what is still out.
 */
export class VirtualClock implements Clock {
  /** Monotonic: what timers are set by. */
  #now = 0;
  /** The wall clock is so much ahead of it. */
  #ahead: number;
  #order = 0;
  readonly #heap = new Heap<Entry>();
  readonly #outside: () => Promise<void> | undefined;

  /** `outside`: undefined when no work is outside the process, else a promise of the next change. */
  constructor(startMs = Date.UTC(2026, 0, 1), outside: () => Promise<void> | undefined = () => undefined) {
    this.#ahead = startMs;
    this.#outside = outside;
  }

  now(): number {
    return this.#now + this.#ahead;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Sets the wall clock forward, or back; no time passes, and timers stay as they are. */
  step(ms: number): void {
    this.#ahead += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepWith(this, ms, signal);
  }

  after(ms: number, fn: () => void): Timer {
    const entry: Entry = { at: this.#now + Math.max(0, ms), order: this.#order++, fn, live: true };
    this.#heap.push(entry);
    return {
      cancel: () => {
        entry.live = false;
        // It stays in the heap until its time, which may be long.
        entry.fn = nothing;
      },
    };
  }

  /** How many timers are armed: a leak shows here. */
  get pending(): number {
    return [...this.#heap].filter((entry) => entry.live).length;
  }

  /** Lets everything that is ready run, without moving time. */
  async settle(): Promise<void> {
    for (;;) {
      // Work may hop through a few immediates (a batch, a stream turn) before it rests on a timer.
      for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      const change = this.#outside() ?? offLoopWork();
      if (change === undefined) return;
      await change;
    }
  }

  /**
   * Runs until `done()` holds or `forMs` of virtual time have passed; returns which.
   * `done` is asked whenever the world has settled.
   */
  async run(forMs: number, done: () => boolean = () => false): Promise<boolean> {
    const end = this.#now + forMs;
    let still = 0;
    for (let before = this.#now; ; before = this.#now) {
      await this.settle();
      if (done()) return true;
      const next = this.#pop(end);
      if (next === undefined) {
        this.#now = Math.max(this.#now, end);
        return false;
      }
      this.#now = Math.max(this.#now, next.at);
      still = this.#now === before ? still + 1 : 0;
      if (still > STANDSTILL) throw new Error("virtual time stands still: something goes on for ever without waiting");
      next.fn();
      // Timers of the same instant run before other work sees the world again.
      for (let same = this.#pop(this.#now); same !== undefined; same = this.#pop(this.#now)) same.fn();
    }
  }

  /** Takes the earliest live timer that is due by `limit`. */
  #pop(limit: number): Entry | undefined {
    for (;;) {
      const top = this.#heap.first;
      if (top === undefined || (top.live && top.at > limit)) return undefined;
      this.#heap.pop();
      if (top.live) {
        top.live = false;
        return top;
      }
    }
  }
}
