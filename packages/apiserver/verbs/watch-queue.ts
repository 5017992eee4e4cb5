import type { WatchEvent } from "@slipway/kube";

/** A reader that is this many events behind is cut off: it will list again, which costs less than remembering for it. */
const LIMIT = 20_000;

/** What a watch has still to deliver. What was queued before `end` is delivered before the iteration ends, unless the reader was too slow. */
export class WatchQueue implements AsyncIterableIterator<WatchEvent> {
  #events: WatchEvent[] = [];
  #at = 0;
  #waiting: ((result: IteratorResult<WatchEvent>) => void) | undefined;
  #ended = false;
  #limit = Number.POSITIVE_INFINITY;
  #onEnd: (() => void) | undefined;

  push(event: WatchEvent): void {
    if (this.#ended) return;
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting({ value: event, done: false });
      return;
    }
    this.#events.push(event);
    if (this.#events.length - this.#at > this.#limit) {
      this.#events = [];
      this.end();
    }
  }

  /** The first burst, as long as the collection, was asked for; from here on the reader must keep up. */
  bound(): void {
    this.#limit = this.#events.length + LIMIT;
  }

  /** Nothing more comes. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd?.();
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  /** Called once, when the watch ends for whatever reason. */
  onEnd(fn: () => void): void {
    this.#onEnd = fn;
  }

  next(): Promise<IteratorResult<WatchEvent>> {
    const event = this.#events[this.#at];
    if (event !== undefined) {
      this.#at++;
      if (this.#at === this.#events.length) {
        this.#events = [];
        this.#at = 0;
      } else if (this.#at > 1024 && this.#at * 2 > this.#events.length) {
        this.#events = this.#events.slice(this.#at);
        this.#at = 0;
      }
      return Promise.resolve({ value: event, done: false });
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<WatchEvent>> {
    this.#events = [];
    this.#at = 0;
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
