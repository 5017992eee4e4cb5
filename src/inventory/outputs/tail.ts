/** How much of a machine's output is kept. */
const KEPT_BYTES = 256 * 1024;

/** The last bytes of an output, for readers that each go at their own pace. Offsets count from the output's first byte. */
export class OutputTail {
  readonly #most: number;
  readonly #listeners = new Set<() => void>();
  #chunks: Uint8Array[] = [];
  #begin = 0;
  #end = 0;
  #isOver = false;

  constructor(most = KEPT_BYTES) {
    this.#most = most;
  }

  /** The offset of the first byte that is kept. */
  get begin(): number {
    return this.#begin;
  }

  /** The offset behind the last byte. */
  get end(): number {
    return this.#end;
  }

  /** Nothing more comes. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds output; the oldest that is too much leaves. The bytes are kept as they are: they are not to be changed. */
  push(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isOver) return;
    this.#chunks.push(bytes);
    this.#end += bytes.length;
    for (let gone = this.#end - this.#begin - this.#most; gone > 0; gone = this.#end - this.#begin - this.#most)
      this.#shorten(gone);
    this.#wake();
  }

  /** Says that nothing more comes. */
  finish(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The bytes from `offset` on, `most` of them; empty: there are none yet. `offset` is at least `begin`. */
  from(offset: number, most: number): Uint8Array {
    let at = this.#begin;
    const parts: Uint8Array[] = [];
    let room = most;
    for (const chunk of this.#chunks) {
      if (room === 0) break;
      const skipped = Math.max(0, offset - at);
      at += chunk.length;
      if (skipped >= chunk.length) continue;
      const part = chunk.subarray(skipped, skipped + room);
      parts.push(part);
      room -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Calls back whenever there is more, or it is over, until the answer is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #shorten(bytes: number): void {
    const first = this.#chunks[0]!;
    const gone = Math.min(bytes, first.length);
    if (gone === first.length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(gone);
    this.#begin += gone;
  }

  #wake(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
