import type { Clock } from "@slipway/base";

/** How many wrong answers one key may give within a window. */
export interface GuessLimitOptions {
  most: number;
  windowMs: number;
  /** Keys remembered at once; the one that began longest ago is forgotten first. */
  keys: number;
}

/** Counts wrong guesses per key, in bounded memory. */
export class GuessLimit {
  readonly #clock: Clock;
  readonly #options: GuessLimitOptions;
  readonly #windows = new Map<string, { since: number; wrong: number }>();

  constructor(clock: Clock, options: GuessLimitOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Milliseconds until this key may guess again; 0: now. */
  waitMs(key: string): number {
    const window = this.#current(key);
    return window === undefined || window.wrong < this.#options.most
      ? 0
      : window.since + this.#options.windowMs - this.#clock.monotonic();
  }

  wrong(key: string): void {
    const window = this.#current(key);
    if (window !== undefined) {
      window.wrong++;
      return;
    }
    if (this.#windows.size >= this.#options.keys)
      for (const oldest of this.#windows.keys()) {
        this.#windows.delete(oldest);
        break;
      }
    this.#windows.set(key, { since: this.#clock.monotonic(), wrong: 1 });
  }

  #current(key: string): { since: number; wrong: number } | undefined {
    const window = this.#windows.get(key);
    if (window === undefined || this.#clock.monotonic() - window.since < this.#options.windowMs) return window;
    this.#windows.delete(key);
    return undefined;
  }
}
