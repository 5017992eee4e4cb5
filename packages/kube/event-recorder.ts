import { asFault, type Clock, isFault, type Log, type Random, rfc3339 } from "@slipway/base";
import type { Client } from "./client.ts";
import { Event } from "./core.ts";
import { type EventSubject, eventDraft, LONGEST_MESSAGE, subjectOf } from "./event-object.ts";
import { EventSeries, type Occurrences, type Series, WINDOW_MS } from "./event-series.ts";
import type { EventRecorder } from "./events.ts";
import type { KubeObject } from "./object.ts";

export interface EventRecorderOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** Shown as the event's source. */
  component: string;
  /** Takes known secrets out of a message. */
  redact?: (text: string) => string;
  /** Called with how many events were dropped just now. */
  onDropped?: (count: number) => void;
}

export interface BufferedRecorder extends EventRecorder {
  /** Resolves when all events recorded so far are written or dropped. */
  flush(): Promise<void>;
  /** How many events were dropped: too many at once, too many on one object, or refused by the API. */
  readonly dropped: number;
}

/** Two for each of five thousand machines that come up at once. */
const MOST_WAITING = 10_000;
/** A burst of machines has as many requests under way for their reconciles; one event at a time would fall behind. */
const AT_ONCE = 16;
/** What is dropped is logged this often at most. */
const SAY_EVERY_MS = 60_000;
const COMBINED = "(combined from similar events): ";

/**
 * Writes events in the background, a few at a time, as core/v1 Events. Events on cluster-scoped objects go to namespace
 * `default`, as upstream's do. So many may wait; what is dropped is counted and, once a minute, logged.
 */
export function createEventRecorder(options: EventRecorderOptions): BufferedRecorder {
  return new Recorder(options);
}

class Recorder implements BufferedRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series: EventSeries;
  /** Those with something to write and no write under way, in their order. */
  readonly #queue = new Map<Series, EventSubject>();
  readonly #writers = new Set<Promise<void>>();
  #waiting = 0;
  #dropped = 0;
  #said = { dropped: 0, atMs: Number.NEGATIVE_INFINITY };

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#series = new EventSeries(options.clock);
  }

  get dropped(): number {
    return this.#dropped;
  }

  normal(on: KubeObject, reason: string, message: string): void {
    this.#record(on, "Normal", reason, message);
  }

  warning(on: KubeObject, reason: string, message: string): void {
    this.#record(on, "Warning", reason, message);
  }

  async flush(): Promise<void> {
    while (this.#writers.size > 0) await Promise.all(this.#writers);
    this.#say();
  }

  #record(on: KubeObject, type: EventSubject["type"], reason: string, text: string): void {
    const { clock, redact } = this.#options;
    const plain = (redact === undefined ? text : redact(text)).slice(0, LONGEST_MESSAGE);
    const series = this.#series.of(on, type, reason, plain);
    const message = `${series.combined ? COMBINED : ""}${plain}`.slice(0, LONGEST_MESSAGE);
    const now = clock.now();
    const { waiting } = series;
    if (waiting !== undefined) {
      waiting.count++;
      waiting.lastMs = now;
      waiting.message = message;
    } else if (this.#waiting >= MOST_WAITING || !this.#series.mayWrite(on)) {
      this.#drop(1);
    } else {
      series.waiting = { message, count: 1, firstMs: now, lastMs: now };
      this.#waiting++;
      this.#queue.set(series, subjectOf(on, type, reason));
      if (!series.busy && this.#writers.size < AT_ONCE) this.#startWriter();
    }
  }

  #startWriter(): void {
    const writer: Promise<void> = this.#write().finally(() => this.#writers.delete(writer));
    this.#writers.add(writer);
  }

  async #write(): Promise<void> {
    // All events recorded in this turn are counted together first.
    await Promise.resolve();
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [series, subject] = next;
      const now = series.waiting!;
      this.#queue.delete(series);
      series.waiting = undefined;
      this.#waiting--;
      series.busy = true;
      try {
        await this.#send(series, subject, now);
      } catch (error) {
        this.#drop(now.count, asFault(error, "event").code);
      }
      series.busy = false;
    }
  }

  #next(): [Series, EventSubject] | undefined {
    for (const entry of this.#queue) if (!entry[0].busy) return entry;
    return undefined;
  }

  async #send(series: Series, subject: EventSubject, now: Occurrences): Promise<void> {
    const { written } = series;
    if (written !== undefined && now.lastMs - written.lastMs <= WINDOW_MS) {
      const count = written.count + now.count;
      if (await this.#countUp({ ...subject, name: written.name }, { ...now, count })) {
        series.written = { name: written.name, count, lastMs: now.lastMs };
        return;
      }
    }
    const draft = eventDraft(subject, now, this.#options);
    await this.#options.client.create(Event, draft);
    series.written = { name: draft.metadata.name, count: now.count, lastMs: now.lastMs };
  }

  /** False when the Event object is gone. */
  async #countUp(
    { namespace, name }: { namespace: string; name: string },
    { message, count, lastMs }: Occurrences,
  ): Promise<boolean> {
    const body = { message, count, lastTimestamp: rfc3339(lastMs) };
    try {
      await this.#options.client.patch(Event, { name, namespace }, { type: "merge", body });
      return true;
    } catch (error) {
      if (isFault(error, "NotFound")) return false;
      throw error;
    }
  }

  #drop(count: number, code?: string): void {
    const { clock, onDropped } = this.#options;
    this.#dropped += count;
    onDropped?.(count);
    if (clock.monotonic() - this.#said.atMs >= SAY_EVERY_MS) this.#say(code);
  }

  #say(code?: string): void {
    const { clock, log, component } = this.#options;
    const dropped = this.#dropped - this.#said.dropped;
    if (dropped === 0) return;
    this.#said = { dropped: this.#dropped, atMs: clock.monotonic() };
    log.warn({ component, dropped, ...(code !== undefined && { code }) }, "events were dropped");
  }
}
