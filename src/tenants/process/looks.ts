import type { Clock, Timer } from "@slipway/base";

/** Looks at something again and again, one look at a time. */
export class Looks {
  readonly #clock: Pick<Clock, "after">;
  readonly #look: (signal: AbortSignal) => Promise<number | undefined>;
  #timer: Timer | undefined;
  #under: { abort: AbortController; done: Promise<void> } | undefined;
  #again = false;

  /**
   * `look` resolves with the milliseconds until the next one; undefined: not before `soon`. Its signal is aborted by `rest`: what it has
   * seen by then does not count.
   */
  constructor(clock: Pick<Clock, "after">, look: (signal: AbortSignal) => Promise<number | undefined>) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Looks now, or once more after the look that is under way. */
  soon(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#under === undefined) this.#start();
    else this.#again = true;
  }

  /** Looks no more. Resolves when no look is under way. */
  async rest(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#again = false;
    this.#under?.abort.abort();
    await this.#under?.done;
  }

  #start(): void {
    const abort = new AbortController();
    const done = this.#look(abort.signal)
      .catch(() => undefined)
      .then((nextMs) => {
        this.#under = undefined;
        const again = this.#again;
        this.#again = false;
        if (again) this.#start();
        else if (nextMs !== undefined && !abort.signal.aborted)
          this.#timer = this.#clock.after(nextMs, () => this.#start());
      });
    this.#under = { abort, done };
  }
}
