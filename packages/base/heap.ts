/** What a heap orders: by time, and within one time by arrival. */
export interface Timed {
  readonly at: number;
  readonly order: number;
}

/** Entries of which the earliest is always at hand: adding and taking cost the logarithm of how many there are. */
export class Heap<T extends Timed> {
  #entries: T[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): T | undefined {
    return this.#entries[0];
  }

  push(entry: T): void {
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  /** Takes the earliest. */
  pop(): T | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && before(entries[child + 1]!, entries[child]!)) child++;
      if (!before(entries[child]!, last)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = last;
    return first;
  }

  /** Leaves only those that pass. */
  keep(passes: (entry: T) => boolean): void {
    // A sorted array is a heap.
    this.#entries = this.#entries.filter(passes).sort((a, b) => a.at - b.at || a.order - b.order);
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#entries.values();
  }
}

function before(a: Timed, b: Timed): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
