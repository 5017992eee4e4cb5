import type { Clock } from "@slipway/base";

const MOST_GUESSES = 10;
const WINDOW_MS = 60_000;
/** Addresses that are counted at one time; the oldest makes room. */
const MOST_ADDRESSES = 4_096;

/** Wrong credentials by address: who shows many in a minute waits until it is over. */
export class Guesses {
  readonly #clock: Clock;
  readonly #counts = new Map<string, { until: number; count: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long this address must wait, in ms; 0: not at all. */
  heldMs(remote: string): number {
    const own = this.#counts.get(remote);
    if (own === undefined || own.count < MOST_GUESSES) return 0;
    return Math.max(0, own.until - this.#clock.monotonic());
  }

  wrong(remote: string): void {
    const now = this.#clock.monotonic();
    const own = this.#counts.get(remote);
    if (own !== undefined && own.until > now) return void own.count++;
    this.#counts.delete(remote);
    if (this.#counts.size >= MOST_ADDRESSES) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(remote, { until: now + WINDOW_MS, count: 1 });
  }
}
