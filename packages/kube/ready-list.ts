/** What the queue knows of a key. */
export interface Item {
  readonly key: string;
  failures: number;
  /** When it became ready, then when it was taken. */
  since: number;
  active: boolean;
  /** The level at which it is to become ready once the work on it is done; -1: not at all. */
  dirty: number;
  list: ReadyList | undefined;
  before: Item | undefined;
  after: Item | undefined;
  /** When it becomes ready by itself; -1: never. */
  dueAt: number;
  dueLevel: number;
}

/** First in, first out, with removal from the middle: links stand in the items, so nothing is allocated. */
export class ReadyList {
  #head: Item | undefined;
  #tail: Item | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    item.list = this;
    item.before = this.#tail;
    item.after = undefined;
    if (this.#tail === undefined) this.#head = item;
    else this.#tail.after = item;
    this.#tail = item;
    this.#length++;
  }

  shift(): Item | undefined {
    const item = this.#head;
    if (item !== undefined) this.remove(item);
    return item;
  }

  /** `item` must be in this list. */
  remove(item: Item): void {
    if (item.before === undefined) this.#head = item.after;
    else item.before.after = item.after;
    if (item.after === undefined) this.#tail = item.before;
    else item.after.before = item.before;
    item.list = undefined;
    item.before = undefined;
    item.after = undefined;
    this.#length--;
  }
}
