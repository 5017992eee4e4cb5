/** How much of a machine's output is kept. */
const KEPT_BYTES = 256 * 1024;

/**
 * The last bytes of an output, for readers that each go at their own pace. Offsets count from the output's first byte. A byte costs the same
 * whether it comes alone, as a serial line's do, or with others.
 */
export class OutputTail {
  readonly #most: number;
  readonly #listeners = new Set<() => void>();
  /** The byte of offset `n` is at `n % #most`. */
  readonly #ring: Uint8Array;
  #end = 0;
  #isOver = false;

  constructor(most = KEPT_BYTES) {
    this.#most = most;
    this.#ring = new Uint8Array(most);
  }

  /** The offset of the first byte that is kept. */
  get begin(): number {
    return Math.max(0, this.#end - this.#most);
  }

  /** The offset behind the last byte. */
  get end(): number {
    return this.#end;
  }

  /** Nothing more comes. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds output; the oldest that is too much leaves. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isOver) return;
    this.#end += bytes.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#most));
    const at = (this.#end - kept.length) % this.#most;
    const straight = kept.subarray(0, this.#most - at);
    this.#ring.set(straight, at);
    this.#ring.set(kept.subarray(straight.length), 0);
    this.#wake();
  }

  /** Says that nothing more comes. */
  finish(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The bytes from `offset` on, `most` of them; empty: there are none yet. `offset` is at least `begin`. */
  from(offset: number, most: number): Uint8Array {
    const length = Math.min(most, this.#end - offset);
    const at = offset % this.#most;
    const straight = this.#ring.subarray(at, at + length);
    return Buffer.concat([straight, this.#ring.subarray(0, length - straight.length)]);
  }

  /** Calls back whenever there is more, or it is over, until the answer is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
