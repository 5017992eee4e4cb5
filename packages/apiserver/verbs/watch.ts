import type { Clock, Fault, Timer } from "@slipway/base";
import type { WatchEvent } from "@slipway/kube";
import { inTurn } from "../conversion/in-turn.ts";
import type { Call } from "../core/call.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { expired, statusOfError } from "../model/status.ts";
import type { StoreEvent } from "../storage/collection.ts";
import { collectionOf } from "../storage/keys.ts";
import { selector, tooNew } from "./list.ts";
import { type ListOptions, listOptions, parseVersionOfRead } from "./list-options.ts";
import { WatchQueue } from "./watch-queue.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
const BOOKMARK_EVERY_MS = 60_000;
/** Watches without a timeout of their own end after this long, up to twice as long, so that clients spread over servers. */
const DEFAULT_TIMEOUT_S = 1800;

/**
 * Opens a watch: what the collection held (when asked for, or without a version), then each change after it, in order, none twice.
 * A version that is forgotten gives one ERROR event with 410, as upstream does. The stream ends at its timeout, when the client goes, when
 * the resource is no longer served or its definition changes (the client goes on from the last version it saw, under the new schema), or
 * when the reader falls too far behind.
 */
export function watch(call: Call): AsyncIterable<WatchEvent> {
  const { core, resource } = call;
  const options = listOptions(call.query, true);
  const { match, prefix } = selector(call);
  const since = parseVersionOfRead(options.resourceVersion);
  const { allowWatchBookmarks: bookmarks, sendInitialEvents: initial = false } = options;
  const collection = core.store.collection(collectionOf(resource));
  const queue = new WatchQueue();
  const show = shower(call, match, prefix);

  const past = initial || since === 0 ? [] : collection.since(since);
  if (past === undefined) return only(queue, expired(`too old resource version: ${since} (${core.store.version})`));
  if (initial && since > core.store.version) return only(queue, tooNew(since, core.store.version));
  const turn = inTurn(
    (of, stored) => core.registry.ready(of, stored),
    resource,
    (error) => {
      queue.push({ type: "ERROR", object: statusOfError(error) });
      queue.end();
    },
  );
  const present = initial ? [...collection.range(prefix, "")].map(([, stored]) => stored) : [];
  const { version } = core.store;
  turn(present, () => {
    for (const stored of present) {
      const object = core.registry.view(resource, stored);
      if (match(object)) queue.push({ type: "ADDED", object });
    }
    if (initial && bookmarks) queue.push(bookmark(resource, version, true));
  });
  const deliver = (event: StoreEvent): void => {
    // A version of the future is waited for.
    if (event.version <= since) return;
    turn([event.object, event.before], () => {
      const shown = show(event);
      if (shown !== undefined) queue.push(shown);
    });
  };
  for (const event of past) if (event.version <= version) deliver(event);
  turn([], () => queue.bound());
  const mark = (): void => {
    const reached = core.store.version;
    // Not before what is still being converted: a client that goes on from here would miss it.
    turn([], () => queue.push(bookmark(resource, reached, false)));
  };
  own(call, queue, { deliver, mark }, options);
  return queue;
}

/** A watch that says why it can't be, and ends. */
function only(queue: WatchQueue, trouble: Fault): WatchQueue {
  queue.push({ type: "ERROR", object: statusOfError(trouble) });
  queue.end();
  return queue;
}

interface Source {
  deliver(event: StoreEvent): void;
  /** Sends a bookmark. */
  mark(): void;
}

/** Ties the watch's listeners and timers to the queue's life. */
function own(call: Call, queue: WatchQueue, { deliver, mark }: Source, options: ListOptions): void {
  const { core, resource, signal } = call;
  const seconds = options.timeoutSeconds || DEFAULT_TIMEOUT_S + core.random.int(DEFAULT_TIMEOUT_S);
  const end = (): void => queue.end();
  const timeout = core.clock.after(Math.max(0, seconds) * 1000, end);
  const ticker = options.allowWatchBookmarks ? every(core.clock, BOOKMARK_EVERY_MS, mark) : undefined;
  const unlisten = core.store.listen(collectionOf(resource), deliver);
  const unwatch = core.registry.onChange(() => {
    if (!core.registry.isServed(resource)) end();
  });
  signal?.addEventListener("abort", end, { once: true });
  queue.onEnd(() => {
    timeout.cancel();
    ticker?.cancel();
    unlisten();
    unwatch();
    signal?.removeEventListener("abort", end);
  });
  if (signal?.aborted) end();
}

/** How many of the latest changes keep the event objects that watchers share. */
const SHARED_CHANGES = 512;
const shared = new Map<StoreEvent, Map<ServedResource, Partial<Record<WatchEvent["type"], WatchEvent>>>>();

/** Turns a change into this watch's event; undefined when it does not concern it. An object that comes into or leaves the selection is ADDED or DELETED. */
function shower(
  call: Call,
  match: (object: Body) => boolean,
  prefix: string,
): (event: StoreEvent) => WatchEvent | undefined {
  const { core, resource } = call;
  return (event) => {
    if (!event.key.startsWith(prefix)) return undefined;
    const object = core.registry.view(resource, event.object);
    const before = event.before === undefined ? undefined : core.registry.view(resource, event.before);
    const was = before !== undefined && match(before);
    const is = event.type !== "DELETED" && match(object);
    if (is) return share(event, resource, was ? "MODIFIED" : "ADDED", object);
    // What left the selection is shown as it was known, with the version of the change.
    return was ? share(event, resource, "DELETED", before) : undefined;
  };
}

/** The same event object for all watchers of the same resource under the same schema, so that it is turned into text once. */
function share(event: StoreEvent, resource: ServedResource, type: WatchEvent["type"], object: Body): WatchEvent {
  let forms = shared.get(event);
  if (forms === undefined) {
    forms = new Map();
    shared.set(event, forms);
    for (const oldest of shared.keys()) {
      if (shared.size <= SHARED_CHANGES) break;
      shared.delete(oldest);
    }
  }
  let byType = forms.get(resource);
  if (byType === undefined) {
    byType = {};
    forms.set(resource, byType);
  }
  byType[type] ??= { type, object: atVersion(object, String(event.version)) };
  return byType[type];
}

function atVersion(object: Body, resourceVersion: string): Body {
  if (object.metadata.resourceVersion === resourceVersion) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function bookmark(resource: ServedResource, version: number, initialEnd: boolean): WatchEvent {
  const annotations = initialEnd ? { annotations: { [INITIAL_EVENTS_END]: "true" } } : {};
  const metadata = { resourceVersion: String(version), ...annotations };
  return { type: "BOOKMARK", object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } };
}

function every(clock: Clock, ms: number, fn: () => void): Timer {
  let timer: Timer;
  const arm = (): void => {
    timer = clock.after(ms, () => {
      fn();
      arm();
    });
  };
  arm();
  return { cancel: () => timer.cancel() };
}
