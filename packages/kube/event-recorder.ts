import { asFault, type Clock, isFault, type Log, type Random, rfc3339 } from "@slipway/base";
import type { Client } from "./client.ts";
import { Event } from "./core.ts";
import type { EventRecorder } from "./events.ts";
import { type KubeObject, refOf } from "./object.ts";
import { TokenBucket } from "./rate-limit.ts";

export interface EventRecorderOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** Shown as the event's source. */
  component: string;
  /** Takes known secrets out of a message. */
  redact?: (text: string) => string;
}

export interface BufferedRecorder extends EventRecorder {
  /** Resolves when all events recorded so far are written or dropped. */
  flush(): Promise<void>;
  /** How many events were dropped: too many at once, too many on one object, or refused by the API. */
  readonly dropped: number;
}

/** Equal events within this time are counted on one Event object. */
const WINDOW_MS = 10 * 60_000;
/** On one object: so many at once, then one per five minutes (the limits of client-go's spam filter). */
const PER_OBJECT = { qps: 1 / 300, burst: 25 };
const MOST_PENDING = 1000;
const MOST_REMEMBERED = 4096;
/** Lengths that the API accepts (events.k8s.io validation: reason 128, note 1024). */
const LONGEST_REASON = 128;
const LONGEST_MESSAGE = 1024;
const LONGEST_NAME = 253;
const WRITE_TIMEOUT_MS = 10_000;

interface Occurrence {
  on: KubeObject;
  type: "Normal" | "Warning";
  reason: string;
  message: string;
  count: number;
  firstMs: number;
  lastMs: number;
}

interface Series {
  name: string;
  count: number;
  lastMs: number;
}

/**
 * Writes events in the background, one after the other, as core/v1 Events. Events on cluster-scoped objects go to namespace
 * `default`, as upstream's do.
 */
export function createEventRecorder(options: EventRecorderOptions): BufferedRecorder {
  const { client, clock, random, log, component, redact = (text) => text } = options;
  const pending = new Map<string, Occurrence>();
  const series = new Map<string, Series>();
  const buckets = new Map<string, TokenBucket>();
  let dropped = 0;
  let writing: Promise<void> | undefined;

  function record(on: KubeObject, type: "Normal" | "Warning", reason: string, text: string): void {
    const message = redact(text).slice(0, LONGEST_MESSAGE);
    const { uid, namespace = "", name } = on.metadata;
    const object = `${on.kind}/${namespace}/${name}/${uid}`;
    const now = clock.now();
    const key = JSON.stringify([object, type, reason, message]);
    const waiting = pending.get(key);
    if (waiting !== undefined) {
      waiting.count++;
      waiting.lastMs = now;
    } else if (pending.size >= MOST_PENDING || !bucketOf(object).tryTake()) {
      dropped++;
    } else {
      const short = reason.slice(0, LONGEST_REASON);
      pending.set(key, { on, type, reason: short, message, count: 1, firstMs: now, lastMs: now });
      writing ??= writeAll();
    }
  }

  function bucketOf(object: string): TokenBucket {
    const known = buckets.get(object);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(clock, PER_OBJECT);
    remember(buckets, object, bucket);
    return bucket;
  }

  async function writeAll(): Promise<void> {
    // All events recorded in this turn are counted together first.
    await Promise.resolve();
    for (let next = first(pending); next !== undefined; next = first(pending)) {
      const [key, occurrence] = next;
      pending.delete(key);
      try {
        await write(key, occurrence);
      } catch (error) {
        dropped++;
        log.debug({ reason: occurrence.reason, code: asFault(error, "event").code }, "event dropped");
      }
    }
    writing = undefined;
  }

  async function write(key: string, now: Occurrence): Promise<void> {
    const before = series.get(key);
    if (before !== undefined && now.lastMs - before.lastMs <= WINDOW_MS && (await countUp(before, now))) return;
    const draft = eventOf(now, component, random);
    await client.create(Event, draft, { timeoutMs: WRITE_TIMEOUT_MS });
    remember(series, key, { name: draft.metadata.name, count: now.count, lastMs: now.lastMs });
  }

  /** False when the Event object is gone. */
  async function countUp(before: Series, now: Occurrence): Promise<boolean> {
    const count = before.count + now.count;
    const body = { count, lastTimestamp: rfc3339(now.lastMs) };
    const ref = { name: before.name, namespace: namespaceOf(now.on) };
    try {
      await client.patch(Event, ref, { type: "merge", body }, { timeoutMs: WRITE_TIMEOUT_MS });
    } catch (error) {
      if (isFault(error, "NotFound")) return false;
      throw error;
    }
    before.count = count;
    before.lastMs = now.lastMs;
    return true;
  }

  return {
    normal: (on, reason, message) => record(on, "Normal", reason, message),
    warning: (on, reason, message) => record(on, "Warning", reason, message),
    async flush() {
      while (writing !== undefined) await writing;
    },
    get dropped() {
      return dropped;
    },
  };
}

function eventOf(now: Occurrence, component: string, random: Random) {
  const { on } = now;
  const { name } = refOf(on);
  const suffix = `.${Buffer.from(random.bytes(8)).toString("hex")}`;
  const namespace = namespaceOf(on);
  return {
    metadata: { name: `${name.slice(0, LONGEST_NAME - suffix.length)}${suffix}`, namespace },
    involvedObject: {
      apiVersion: on.apiVersion,
      kind: on.kind,
      name,
      uid: on.metadata.uid,
      resourceVersion: on.metadata.resourceVersion,
      ...(on.metadata.namespace === undefined ? {} : { namespace: on.metadata.namespace }),
    },
    type: now.type,
    reason: now.reason,
    message: now.message,
    count: now.count,
    firstTimestamp: rfc3339(now.firstMs),
    lastTimestamp: rfc3339(now.lastMs),
    source: { component },
    reportingComponent: component,
  };
}

function namespaceOf(on: KubeObject): string {
  return on.metadata.namespace ?? "default";
}

function first<K, V>(map: ReadonlyMap<K, V>): [K, V] | undefined {
  return map.entries().next().value;
}

/** Keeps the map bounded: the oldest entry makes place. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  if (map.size >= MOST_REMEMBERED) map.delete(first(map)![0]);
  map.set(key, value);
}
