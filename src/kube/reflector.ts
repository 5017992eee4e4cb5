import type { Clock } from "../base/clock.ts";
import { asFault, Fault, isFault } from "../base/fault.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import { type BackOff, backOffMs } from "./back-off.ts";
import type { Client } from "./client.ts";
import type { KubeObject, Resource } from "./object.ts";
import { isNewer } from "./resource-version.ts";
import type { Store } from "./store.ts";
import type { WatchEvent } from "./transport.ts";

/** Which objects are followed. */
export interface Selection<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ReflectorPorts {
  client: Client;
  clock: Clock;
  random: Random;
  log: Log;
  /** A stream on which nothing came for so long, not even a bookmark, is taken for dead. */
  silenceMs?: number;
}

const SILENCE_MS = 150_000;
const BACK_OFF: BackOff = { baseMs: 800, maxMs: 30_000, jitter: 0.5 };

/** A watch that ended sooner, without having told anything, counts as a failure: its server may be refusing in its own way. */
const SHORT_WATCH_MS = 1_000;

/** The server ends watches after this long, or up to twice as long, so that watchers spread over its replicas again. */
const WATCH_SECONDS = 300;

/**
 * Keeps a store equal to the API's state: lists, then watches from there, resumes where a watch ended, and lists anew when the API
 * no longer knows the version. Failures are waited out with back-off, for ever. Resolves when `signal` is aborted.
 */
export async function reflect<T extends KubeObject>(
  selection: Selection<T>,
  store: Store<T>,
  ports: ReflectorPorts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = ports;
  const position: Position = { version: undefined };
  let failures = 0;
  while (!signal.aborted) {
    let trouble: Fault | undefined;
    let told = false;
    const startedAt = clock.now();
    try {
      if (position.version === undefined) position.version = await list(selection, store, ports.client, signal);
      for await (const event of watch(selection, position.version, ports, signal)) {
        take(event, store, position);
        told = true;
      }
      if (!told && clock.now() - startedAt < SHORT_WATCH_MS)
        trouble = new Fault("Unavailable", `${selection.resource.kind} watch`, "it was closed at once");
    } catch (error) {
      trouble = asFault(error, `${selection.resource.kind} watch`);
    }
    if (signal.aborted) return;
    if (told) failures = 0;
    if (isFault(trouble, "Gone")) position.version = undefined;
    if (trouble === undefined) continue;
    const waitMs = Math.max(trouble.retryAfterMs ?? 0, backOffMs(BACK_OFF, failures++, random));
    log.debug({ resource: selection.resource.plural, code: trouble.code, waitMs }, "watch ended, trying again");
    await clock.sleep(waitMs, signal).catch(() => {});
  }
}

interface Position {
  /** The version up to which the store is complete; undefined: a list is needed. */
  version: string | undefined;
}

async function list<T extends KubeObject>(
  selection: Selection<T>,
  store: Store<T>,
  client: Client,
  signal: AbortSignal,
): Promise<string> {
  const { resource, ...options } = selection;
  const { items, resourceVersion } = await client.list(resource, { ...options, signal });
  store.replace(items);
  return resourceVersion;
}

/** The events of one watch, whose silence ends it with `Unavailable`. */
async function* watch<T extends KubeObject>(
  selection: Selection<T>,
  resourceVersion: string,
  ports: ReflectorPorts,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const { clock, random } = ports;
  const { resource, ...options } = selection;
  const silenceMs = ports.silenceMs ?? SILENCE_MS;
  const silence = new AbortController();
  const onStop = (): void => silence.abort(signal.reason);
  signal.addEventListener("abort", onStop, { once: true });
  let heardAt = clock.now();
  // One timer looks now and then, instead of one timer per event.
  const look = (): void => {
    const left = heardAt + silenceMs - clock.now();
    if (left > 0) timer = clock.after(left, look);
    else silence.abort(new Fault("Unavailable", `${resource.kind} watch`, `silent for ${silenceMs / 1000} s`));
  };
  let timer = clock.after(silenceMs, look);
  try {
    const timeoutSeconds = WATCH_SECONDS + random.int(WATCH_SECONDS);
    const stream = await ports.client.watch(resource, {
      ...options,
      resourceVersion,
      timeoutSeconds,
      signal: silence.signal,
    });
    for await (const event of stream) {
      heardAt = clock.now();
      yield event;
    }
    if (silence.signal.aborted) throw silence.signal.reason;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onStop);
  }
}

/** Versions on a stream only rise, so an event at or below the position was told before and must not undo what came after it. */
function take<T extends KubeObject>(event: WatchEvent, store: Store<T>, position: Position): void {
  const object = event.object as T;
  const version = object.metadata.resourceVersion;
  const fresh = position.version === undefined || isNewer(version, position.version);
  if (event.type === "DELETED") store.remove(object);
  else if (event.type !== "BOOKMARK" && fresh) store.put(object);
  if (fresh) position.version = version;
}
