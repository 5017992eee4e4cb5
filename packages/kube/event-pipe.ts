/**
 * Values from a producer that can't wait to a consumer that can. What was put before the end is delivered before the end; `onLevel`
 * makes the producer pause and go on.
 */
export class EventPipe<T> {
  readonly #most: number;
  readonly #onLevel: (full: boolean) => void;
  #values: T[] = [];
  #read = 0;
  #full = false;
  #end: { error: unknown } | undefined;
  #waiting: (() => void) | undefined;

  constructor(most: number, onLevel: (full: boolean) => void) {
    this.#most = most;
    this.#onLevel = onLevel;
  }

  put(value: T): void {
    if (this.#end !== undefined) return;
    this.#values.push(value);
    if (!this.#full && this.#values.length - this.#read >= this.#most) this.#level(true);
    this.#wake();
  }

  /** Ends the stream; with an error, the consumer gets it after the values. */
  end(error?: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *values(onClose: () => void): AsyncGenerator<T> {
    try {
      for (;;) {
        if (this.#read < this.#values.length) {
          yield this.#values[this.#read++]!;
          continue;
        }
        this.#values = [];
        this.#read = 0;
        if (this.#full) this.#level(false);
        if (this.#end?.error !== undefined) throw this.#end.error;
        if (this.#end !== undefined) return;
        await new Promise<void>((resolve) => {
          this.#waiting = resolve;
        });
      }
    } finally {
      onClose();
    }
  }

  #level(full: boolean): void {
    this.#full = full;
    this.#onLevel(full);
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
