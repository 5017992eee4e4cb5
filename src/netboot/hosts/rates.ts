import type { Clock } from "@slipway/base";

export interface Rate {
  perSecond: number;
  /** At once, after a silence. */
  burst: number;
  /** Keys that are remembered; of more, the one that was used longest ago is taken for a new one. */
  keys: number;
}

/** How often each key may do something: a token bucket each, in bounded memory. */
export class Rates {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #rate: Rate;
  /** The one that was used longest ago stands first. */
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Pick<Clock, "monotonic">, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Whether the key may do it now; if so, it counts. */
  take(key: string): boolean {
    const { perSecond, burst, keys } = this.#rate;
    const now = this.#clock.monotonic();
    const known = this.#buckets.get(key);
    const passed = known === undefined ? 0 : (now - known.at) / 1000;
    const tokens = known === undefined ? burst : Math.min(burst, known.tokens + passed * perSecond);
    this.#buckets.delete(key);
    if (this.#buckets.size >= keys) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
    return tokens >= 1;
  }
}
