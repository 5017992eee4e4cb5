import type { Item } from "./ready-list.ts";

interface Entry {
  at: number;
  order: number;
  item: Item;
}

/**
 * Items by the time they are due; an item is due once at most. Entries that an earlier time or a drop made void stay in the heap until
 * they surface, or until they are the greater part of it.
 */
export class DueHeap {
  #heap: Entry[] = [];
  #order = 0;
  #live = 0;

  get live(): number {
    return this.#live;
  }

  /** When the first item is due. */
  get nextAt(): number | undefined {
    this.#skipVoid();
    return this.#heap[0]?.at;
  }

  /** Sets when the item is due, unless it is due earlier already. */
  push(item: Item, at: number, level: number): void {
    if (item.dueAt >= 0 && item.dueAt <= at) return;
    if (item.dueAt < 0) this.#live++;
    item.dueAt = at;
    item.dueLevel = level;
    this.#up({ at, order: this.#order++, item });
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#live) this.#rebuild();
  }

  drop(item: Item): void {
    if (item.dueAt < 0) return;
    item.dueAt = -1;
    this.#live--;
  }

  /** Takes an item that is due by `now`. */
  take(now: number): Item | undefined {
    this.#skipVoid();
    const top = this.#heap[0];
    if (top === undefined || top.at > now) return undefined;
    this.#removeTop();
    this.drop(top.item);
    return top.item;
  }

  clear(): void {
    for (const { item } of this.#heap) this.drop(item);
    this.#heap = [];
  }

  #skipVoid(): void {
    while (this.#heap.length > 0 && this.#heap[0]!.item.dueAt !== this.#heap[0]!.at) this.#removeTop();
  }

  #rebuild(): void {
    const live = this.#heap.filter((entry) => entry.item.dueAt === entry.at);
    // A sorted array is a heap.
    this.#heap = live.sort((a, b) => a.at - b.at || a.order - b.order);
  }

  #up(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #removeTop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
