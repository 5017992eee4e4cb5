import type { Clock } from "@slipway/base";
import type { KubeObject } from "./object.ts";
import { TokenBucket } from "./rate-limit.ts";

/** What happened to one object and waits to be written. Times in ms since 1970. */
export interface Occurrences {
  message: string;
  count: number;
  firstMs: number;
  lastMs: number;
}

/** Occurrences that are counted on one Event object. */
export interface Series {
  /** Some differ in their messages: the last one's is shown. */
  readonly combined: boolean;
  /** The Event object as it was written last; undefined: there is none yet. */
  written: { name: string; count: number; lastMs: number } | undefined;
  waiting: Occurrences | undefined;
  /** A write is under way: what comes meanwhile waits for its end. */
  busy: boolean;
}

/** Equal events within this time are counted on one Event object, and so are similar ones. */
export const WINDOW_MS = 10 * 60_000;
/** So many messages of one reason stand on their own; the others are combined (client-go's aggregator). */
const MOST_MESSAGES = 10;
/** On one object: so many writes at once, then one per five minutes (the limits of client-go's spam filter). */
const PER_OBJECT = { qps: 1 / 300, burst: 25 };
const MOST_OBJECTS = 4096;

interface Similar {
  byMessage: Map<string, Series>;
  combined: Series | undefined;
  lastMs: number;
}

interface Known {
  bucket: TokenBucket;
  /** By type and reason. */
  similar: Map<string, Similar>;
}

/**
 * Which events are counted together, and how many each object may have: the rules of client-go's correlator. Events of one object, type and
 * reason are similar; up to ten messages of them have a series each. Remembers the 4096 objects that had events last.
 */
export class EventSeries {
  readonly #clock: Clock;
  readonly #objects = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The series that the event belongs to, at this moment. */
  of(on: KubeObject, type: string, reason: string, message: string): Series {
    const { similar } = this.#known(on);
    const key = `${type} ${reason}`;
    const now = this.#clock.now();
    let group = similar.get(key);
    if (group === undefined || now - group.lastMs > WINDOW_MS) {
      group = { byMessage: new Map(), combined: undefined, lastMs: now };
      similar.set(key, group);
    }
    group.lastMs = now;
    const known = group.byMessage.get(message);
    if (known !== undefined) return known;
    if (group.byMessage.size >= MOST_MESSAGES) {
      group.combined ??= begun(true);
      return group.combined;
    }
    const series = begun(false);
    group.byMessage.set(message, series);
    return series;
  }

  /** Takes one of the object's writes; false: it has none left for now. */
  mayWrite(on: KubeObject): boolean {
    return this.#known(on).bucket.tryTake();
  }

  #known({ kind, metadata }: KubeObject): Known {
    const key = metadata.uid || `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
    const known = this.#objects.get(key) ?? { bucket: new TokenBucket(this.#clock, PER_OBJECT), similar: new Map() };
    // Those that had events last stay.
    this.#objects.delete(key);
    if (this.#objects.size >= MOST_OBJECTS) this.#objects.delete(this.#objects.keys().next().value!);
    this.#objects.set(key, known);
    return known;
  }
}

function begun(combined: boolean): Series {
  return { combined, written: undefined, waiting: undefined, busy: false };
}
