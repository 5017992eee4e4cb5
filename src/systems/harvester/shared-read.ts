import type { Clock } from "@slipway/base";

/**
 * A read that many ask for at once: one is under way at a time, and its result serves all who ask until it is `keepMs` old (0: only those who
 * asked while it was under way). A failed read serves nobody who asks later.
 */
export class SharedRead<T> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #keepMs: number;
  #held: { value: T; at: number } | undefined;
  #reading: Promise<T> | undefined;

  constructor(clock: Pick<Clock, "monotonic">, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** The value, read by `read` where none is at hand. */
  async get(read: () => Promise<T>): Promise<T> {
    if (this.#held !== undefined && this.#clock.monotonic() - this.#held.at < this.#keepMs) return this.#held.value;
    this.#reading ??= this.#read(read).finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  async #read(read: () => Promise<T>): Promise<T> {
    const at = this.#clock.monotonic();
    const value = await read();
    this.#held = { value, at };
    return value;
  }
}
