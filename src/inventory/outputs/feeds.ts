import { asFault, type Clock, type Timer } from "@slipway/base";
import type { OpenOutput } from "./outputs.ts";
import { OutputTail } from "./tail.ts";

/** A page that is loaded anew finds what it read before. */
const LINGER_MS = 15_000;

/** Reads an output until it ends or the signal is aborted. May reject: readers are shown why. */
export type Follow = (push: (bytes: Uint8Array) => void, signal: AbortSignal) => Promise<void>;

interface Feed {
  tail: OutputTail;
  ending: AbortController;
  readers: number;
  timer: Timer | undefined;
}

/** Outputs that are followed only while somebody reads them, each once, however many readers it has. */
export class OutputFeeds {
  readonly #clock: Pick<Clock, "after">;
  readonly #feeds = new Map<string, Feed>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** How many are followed now. */
  get size(): number {
    return this.#feeds.size;
  }

  /** Reads the output of this name; it is followed from now on unless it is already. */
  open(name: string, follow: Follow): OpenOutput {
    const feed = this.#feeds.get(name) ?? this.#begin(name, follow);
    feed.timer?.cancel();
    feed.readers++;
    return {
      tail: feed.tail,
      done: () => {
        if (--feed.readers === 0) feed.timer = this.#clock.after(LINGER_MS, () => this.#end(name, feed));
      },
    };
  }

  /** Ends all of them. */
  close(): void {
    for (const [name, feed] of [...this.#feeds]) this.#end(name, feed);
  }

  #begin(name: string, follow: Follow): Feed {
    const feed: Feed = { tail: new OutputTail(), ending: new AbortController(), readers: 0, timer: undefined };
    this.#feeds.set(name, feed);
    const { signal } = feed.ending;
    void follow((bytes) => feed.tail.push(bytes), signal)
      .catch((error: unknown) => {
        if (!signal.aborted) feed.tail.push(Buffer.from(`\r\n${asFault(error, name).advice}\r\n`));
      })
      .finally(() => this.#end(name, feed));
    return feed;
  }

  #end(name: string, feed: Feed): void {
    feed.timer?.cancel();
    feed.ending.abort(new DOMException("nobody reads it any more", "AbortError"));
    feed.tail.finish();
    if (this.#feeds.get(name) === feed) this.#feeds.delete(name);
  }
}
