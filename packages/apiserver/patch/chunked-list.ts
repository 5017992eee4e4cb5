/** Longer chunks are cut in two. */
const MAX_CHUNK = 1024;

/** A long list in pieces: an item is put in or taken out without moving all that follow. */
export class ChunkedList {
  readonly #chunks: unknown[][] = [];
  #length: number;

  constructor(items: readonly unknown[]) {
    for (let at = 0; at < items.length; at += MAX_CHUNK / 2) this.#chunks.push(items.slice(at, at + MAX_CHUNK / 2));
    this.#length = items.length;
  }

  get length(): number {
    return this.#length;
  }

  /** The item at a place that the list has. */
  at(index: number): unknown {
    const { chunk, offset } = this.#find(index);
    return chunk[offset];
  }

  set(index: number, item: unknown): void {
    const { chunk, offset } = this.#find(index);
    chunk[offset] = item;
  }

  insert(index: number, item: unknown): void {
    const { chunk, offset, number } = this.#find(index);
    chunk.splice(offset, 0, item);
    this.#length++;
    if (chunk.length > MAX_CHUNK) this.#chunks.splice(number + 1, 0, chunk.splice(MAX_CHUNK / 2));
  }

  remove(index: number): void {
    const { chunk, offset, number } = this.#find(index);
    chunk.splice(offset, 1);
    this.#length--;
    if (chunk.length === 0) this.#chunks.splice(number, 1);
  }

  items(): unknown[] {
    return this.#chunks.flat();
  }

  /** The chunk of an item; for the place behind the last, the end of the last chunk. */
  #find(index: number): { chunk: unknown[]; offset: number; number: number } {
    let offset = index;
    for (const [number, chunk] of this.#chunks.entries()) {
      if (offset < chunk.length || (offset === chunk.length && number === this.#chunks.length - 1))
        return { chunk, offset, number };
      offset -= chunk.length;
    }
    const chunk: unknown[] = [];
    return { chunk, offset: 0, number: this.#chunks.push(chunk) - 1 };
  }
}
