import { Heap } from "@slipway/base";
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
  readonly #heap = new Heap<Entry>();
  #order = 0;
  #live = 0;

  get live(): number {
    return this.#live;
  }

  /** When the first item is due. */
  get nextAt(): number | undefined {
    this.#skipVoid();
    return this.#heap.first?.at;
  }

  /** Sets when the item is due, unless it is due earlier already. */
  push(item: Item, at: number, level: number): void {
    if (item.dueAt >= 0 && item.dueAt <= at) return;
    if (item.dueAt < 0) this.#live++;
    item.dueAt = at;
    item.dueLevel = level;
    this.#heap.push({ at, order: this.#order++, item });
    if (this.#heap.size > 64 && this.#heap.size > 4 * this.#live) this.#heap.keep(isLive);
  }

  drop(item: Item): void {
    if (item.dueAt < 0) return;
    item.dueAt = -1;
    this.#live--;
  }

  /** Takes an item that is due by `now`. */
  take(now: number): Item | undefined {
    this.#skipVoid();
    const top = this.#heap.first;
    if (top === undefined || top.at > now) return undefined;
    this.#heap.pop();
    this.drop(top.item);
    return top.item;
  }

  clear(): void {
    for (const { item } of this.#heap) this.drop(item);
    this.#heap.keep(isLive);
  }

  #skipVoid(): void {
    for (let top = this.#heap.first; top !== undefined && !isLive(top); top = this.#heap.first) this.#heap.pop();
  }
}

/** A later `push` or a `drop` makes an entry void. */
function isLive({ item, at }: Entry): boolean {
  return item.dueAt === at;
}
