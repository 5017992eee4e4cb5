import type { Clock, Timer } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";
import type { FollowerListener, KindState } from "./follower.ts";

/** Where the text of a stream goes. `write`: false when the reader must take something first; `drained` of the stream says that it has. */
export interface Sink {
  write(text: string): boolean;
  /** Ends the connection at once. */
  destroy(): void;
}

export interface StreamTimes {
  /** Changes of so long go together. */
  batchMs: number;
  /** A reader that takes nothing for so long is cut off. */
  stalledMs: number;
  /** A word after so long a silence keeps proxies from closing, and shows whether the reader is there. */
  pingMs: number;
}

export const STREAM_TIMES: StreamTimes = { batchMs: 40, stalledMs: 30_000, pingMs: 15_000 };

/** One event holds about so much, so that a reader who is slow never makes more of it wait. */
const EVENT_CHARACTERS = 128 * 1024;

/** What of one kind was not sent yet: of each object the last change alone. */
interface Lane {
  begin: boolean;
  changes: Map<string, { type: "set" | "gone"; object: object }>;
  state: { state: KindState; message?: string } | undefined;
}

/**
 * The server-sent events of one page. What waits for a slow reader is a reference to the last change of each object, never a
 * text, so it is bounded by what there is; a reader that stands still is cut off.
 */
export class EventStream {
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #times: StreamTimes;
  readonly #lanes = new Map<string, Lane>();
  #full = false;
  #closed = false;
  #flushedAt: number;
  #flushing: Timer | undefined;
  #stalled: Timer | undefined;
  #ping: Timer | undefined;

  constructor(sink: Sink, clock: Clock, times: StreamTimes = STREAM_TIMES) {
    this.#sink = sink;
    this.#clock = clock;
    this.#times = times;
    this.#flushedAt = clock.monotonic() - times.batchMs;
    this.#write("retry: 1000\n\n");
    this.#rearm();
  }

  /** Changes that wait to be sent. */
  get held(): number {
    return [...this.#lanes.values()].reduce((sum, { changes }) => sum + changes.size, 0);
  }

  /** A listener that sends what it is informed of as events of this kind. */
  lane(kind: string): FollowerListener {
    const lane: Lane = { begin: false, changes: new Map(), state: undefined };
    this.#lanes.set(kind, lane);
    const put = (key: string, type: "set" | "gone", object: object): void => {
      // A key that comes again goes to the end: changes keep the order of what they say last.
      lane.changes.delete(key);
      lane.changes.set(key, { type, object });
      this.#schedule();
    };
    return {
      begin: () => {
        lane.begin = true;
        lane.changes.clear();
        lane.state = undefined;
        this.#schedule();
      },
      set: (key, object) => put(key, "set", object),
      gone: (key, object) => put(key, "gone", stub(object)),
      state: (state, message) => {
        lane.state = { state, ...(message !== undefined && { message }) };
        this.#schedule();
      },
    };
  }

  /** The reader has taken what was written: what is left of a batch goes on at once. */
  drained(): void {
    this.#full = false;
    this.#stalled?.cancel();
    if (this.#flushing === undefined) this.#flush();
  }

  /** Sends nothing more. The connection is its owner's to end. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#flushing, this.#stalled, this.#ping]) timer?.cancel();
    this.#lanes.clear();
  }

  #schedule(): void {
    if (this.#flushing !== undefined || this.#full || this.#closed) return;
    const wait = Math.max(1, this.#flushedAt + this.#times.batchMs - this.#clock.monotonic());
    this.#flushing = this.#clock.after(wait, () => {
      this.#flushing = undefined;
      this.#flush();
    });
  }

  #flush(): void {
    this.#flushedAt = this.#clock.monotonic();
    for (const [kind, lane] of this.#lanes)
      while (!this.#full && !this.#closed) {
        const text = next(kind, lane);
        if (text === undefined) break;
        this.#write(text);
      }
  }

  #write(text: string): void {
    if (this.#sink.write(text)) return;
    this.#full = true;
    this.#stalled = this.#clock.after(this.#times.stalledMs, () => {
      this.close();
      this.#sink.destroy();
    });
  }

  #rearm(): void {
    this.#ping = this.#clock.after(this.#times.pingMs, () => {
      if (!this.#full && this.#clock.monotonic() - this.#flushedAt >= this.#times.pingMs) this.#write(": here\n\n");
      if (!this.#closed) this.#rearm();
    });
  }
}

/** The next event of a kind; undefined: there is nothing to say. */
function next(kind: string, lane: Lane): string | undefined {
  if (lane.begin) {
    lane.begin = false;
    return event("kind", { kind, state: "begin" });
  }
  if (lane.changes.size > 0) return changesOf(kind, lane);
  if (lane.state === undefined) return undefined;
  const { state } = lane;
  lane.state = undefined;
  return event("kind", { kind, ...state });
}

/** Takes changes out of the lane, until they are long enough for one event. */
function changesOf(kind: string, { changes }: Lane): string {
  const texts: string[] = [];
  let length = 0;
  for (const [key, change] of changes) {
    const text = JSON.stringify(change);
    texts.push(text);
    length += text.length;
    changes.delete(key);
    if (length >= EVENT_CHARACTERS) break;
  }
  return `event: objects\ndata: {"kind":${JSON.stringify(kind)},"changes":[${texts.join(",")}]}\n\n`;
}

/** JSON holds no line ends, so an event's data are one line. */
function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Of what is gone the page needs to know which it was. */
function stub({ apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject): object {
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }), uid } };
}
