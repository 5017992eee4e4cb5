import { asFault, Fault, isFault } from "@slipway/base";
import type { Client } from "./client.ts";
import { type KubeObject, keyOf, type Resource } from "./object.ts";
import { isNewer } from "./resource-version.ts";
import type { Store } from "./store.ts";
import type { WatchEvent } from "./transport.ts";
import { WatchPauses, type WatchPausesPorts } from "./watch-pauses.ts";

/** Which objects are followed. */
export interface Selection<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ReflectorPorts extends WatchPausesPorts {
  client: Client;
  /** A stream on which nothing came for so long, not even a bookmark, is taken for dead. */
  silenceMs?: number;
}

const SILENCE_MS = 150_000;

/**
 * A watch that ended sooner, without an event, counts as a failure: its server may be refusing in its own way. One that
 * lived longer ends a row of failures.
 */
const SHORT_WATCH_MS = 1_000;

/** The server ends watches after this long, or up to twice as long, so that watchers spread over its replicas again. */
const WATCH_SECONDS = 300;

/**
 * Keeps a store equal to the API's state: has a watch begin with what there is, resumes where a watch ended, and begins anew when the API
 * no longer knows the version. An API that does not stream what there is gets lists. After a failure it tries again with back-off, without end; a missing
 * definition (404) is one, and the store notes it; where `definitions` are followed, the next attempt waits for a change of the kind's own.
 * Resolves when `signal` is aborted.
 */
export async function reflect<T extends KubeObject>(
  selection: Selection<T>,
  store: Store<T>,
  ports: ReflectorPorts,
  signal: AbortSignal,
): Promise<void> {
  const position: Position = { version: undefined };
  const pauses = new WatchPauses(selection.resource, ports);
  let streams = true;
  while (!signal.aborted) {
    const { trouble, lasted } = await follow({ selection, store, position, streams, ports, signal });
    if (signal.aborted) return;
    if (streams && position.version === undefined && REFUSALS.some((code) => isFault(trouble, code))) {
      streams = false;
      continue;
    }
    if (lasted) pauses.end();
    if (trouble === undefined) continue;
    if (isFault(trouble, "Gone", "NotFound")) position.version = undefined;
    // A definition that comes back may have lost its objects: versions from before mean nothing then.
    if (isFault(trouble, "NotFound")) store.markMissing();
    await pauses.pass(trouble, signal);
  }
}

/** How a watch went until it ended. */
interface Followed {
  trouble: Fault | undefined;
  /** It ends a row of failures: the store took something of it, or it was open for long enough. */
  lasted: boolean;
}

interface Following<T extends KubeObject> {
  selection: Selection<T>;
  store: Store<T>;
  position: Position;
  /** The API streams what there is. */
  streams: boolean;
  ports: ReflectorPorts;
  signal: AbortSignal;
}

/** Keeps the store equal for as long as one watch lasts. Never rejects. */
async function follow<T extends KubeObject>(following: Following<T>): Promise<Followed> {
  const { selection, store, position, streams, ports, signal } = following;
  let progressed = false;
  let openedAt = Number.POSITIVE_INFINITY;
  const opened = (): void => {
    openedAt = ports.clock.monotonic();
  };
  const lasted = (): boolean => progressed || ports.clock.monotonic() - openedAt >= SHORT_WATCH_MS;
  const on = `${selection.resource.kind} watch`;
  try {
    if (position.version === undefined && !streams)
      position.version = await list(selection, store, ports.client, signal);
    const gathered = new Map<string, T>();
    for await (const event of watch(following, opened)) {
      if (position.version === undefined) position.version = gather(event, gathered, store);
      else take(event, store, position);
      progressed = position.version !== undefined;
    }
    const trouble = lasted() ? undefined : new Fault("Unavailable", on, "it was closed at once");
    return { trouble, lasted: lasted() };
  } catch (error) {
    return { trouble: asFault(error, on), lasted: lasted() };
  }
}

/** How an API says that it does not stream what there is. */
const REFUSALS = ["Invalid", "BadRequest"] as const;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** Collects one event of the initial list. At its end, fills the store and returns the version; undefined before. */
function gather<T extends KubeObject>(
  event: WatchEvent,
  gathered: Map<string, T>,
  store: Store<T>,
): string | undefined {
  const object = event.object as T;
  if (event.type !== "BOOKMARK") {
    const key = keyOf(object.metadata);
    if (event.type === "DELETED") gathered.delete(key);
    else gathered.set(key, object);
    return undefined;
  }
  // A bookmark of another kind: the server did not understand what was asked, and its end would never come.
  if (object.metadata.annotations?.[INITIAL_EVENTS_END] !== "true")
    throw new Fault("Invalid", "watch", "the API does not mark the end of what there is");
  store.replace([...gathered.values()]);
  return object.metadata.resourceVersion;
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

/** The events of one watch from the position on (without a version: what there is first), whose silence ends it with `Unavailable`. */
async function* watch<T extends KubeObject>(
  { selection, position, ports, signal }: Following<T>,
  opened: () => void,
): AsyncGenerator<WatchEvent> {
  const { clock, random } = ports;
  const { resource, ...options } = selection;
  const silenceMs = ports.silenceMs ?? SILENCE_MS;
  const silence = new AbortController();
  const onStop = (): void => silence.abort(signal.reason);
  signal.addEventListener("abort", onStop, { once: true });
  let lastEventAt = clock.monotonic();
  // One timer looks now and then, instead of one timer per event.
  const look = (): void => {
    const left = lastEventAt + silenceMs - clock.monotonic();
    if (left > 0) timer = clock.after(left, look);
    else silence.abort(new Fault("Unavailable", `${resource.kind} watch`, `silent for ${silenceMs / 1000} s`));
  };
  let timer = clock.after(silenceMs, look);
  try {
    const timeoutSeconds = WATCH_SECONDS + random.int(WATCH_SECONDS);
    const stream = await ports.client.watch(resource, {
      ...options,
      resourceVersion: position.version ?? "",
      sendInitialEvents: position.version === undefined,
      timeoutSeconds,
      signal: silence.signal,
    });
    opened();
    for await (const event of stream) {
      lastEventAt = clock.monotonic();
      yield event;
    }
    if (silence.signal.aborted) throw silence.signal.reason;
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onStop);
  }
}

/** Versions on a stream only rise, so an event at or below the position was delivered before and must not undo what came after it. */
function take<T extends KubeObject>(event: WatchEvent, store: Store<T>, position: Position): void {
  const object = event.object as T;
  const version = object.metadata.resourceVersion;
  const fresh = position.version === undefined || isNewer(version, position.version);
  if (event.type === "DELETED") store.remove(object);
  else if (event.type !== "BOOKMARK" && fresh) store.put(object);
  if (fresh) position.version = version;
}
