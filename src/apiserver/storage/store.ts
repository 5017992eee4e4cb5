/**
 * The objects of the API: in memory, with one version counter over all of them, and durable when a journal is given.
 * A write changes memory at once and is acknowledged (`durable`), and shown to watchers, only once it is on the disk. Writes of one
 * turn of the event loop are committed together. Knows nothing of requests, schemas or kinds.
 */
import { Fault } from "../../base/fault.ts";
import type { Body } from "../served.ts";
import { Collection, type StoreEvent } from "./collection.ts";
import type { Journal, JournalEntry } from "./journal.ts";

export type Listener = (event: StoreEvent) => void;

export interface StoreOptions {
  journal?: Journal | undefined;
  /** How many changes each collection remembers for watchers that resume. */
  history?: number;
}

const DEFAULT_HISTORY = 4096;

export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #journal: Journal | undefined;
  readonly #history: number;
  /** The version that memory was loaded at: older changes are not known here. */
  readonly #origin: number;
  #version: number;
  #shown: number;
  #pending: StoreEvent[] = [];
  #flush: { promise: Promise<void>; run: () => void } | undefined;
  #broken: Fault | undefined;

  constructor(options: StoreOptions = {}) {
    this.#journal = options.journal;
    this.#history = options.history ?? DEFAULT_HISTORY;
    const loaded: [string, string, Body][] = [];
    const found = this.#journal?.load(({ collection, key, object }) => loaded.push([collection, key, object]));
    this.#version = Math.max(1, found?.version ?? 0);
    this.#shown = this.#version;
    this.#origin = this.#version;
    for (const [collection, key, object] of loaded) this.#collection(collection).load(key, object);
  }

  /** The version of the newest change that watchers have been shown. */
  get version(): number {
    return this.#shown;
  }

  /** Why no write can be kept any more; undefined while all is well. */
  get broken(): Fault | undefined {
    return this.#broken;
  }

  get(collection: string, key: string): Body | undefined {
    return this.#collections.get(collection)?.get(key);
  }

  collection(name: string): Collection {
    return this.#collection(name);
  }

  collections(): IterableIterator<string> {
    return this.#collections.keys();
  }

  /**
   * Stores `object` if what is there now has the version `expected` (undefined: nothing is there), else returns undefined.
   * Sets its `resourceVersion`; the object is the store's from then on.
   */
  put(collection: string, key: string, object: Body, expected: string | undefined): Body | undefined {
    const before = this.get(collection, key);
    if (before?.metadata.resourceVersion !== expected) return undefined;
    this.#apply({ collection, key, object, before, type: before === undefined ? "ADDED" : "MODIFIED" });
    return object;
  }

  /** Removes the object if it still has the version `expected`. Returns its last state, or undefined when it had moved on. */
  remove(collection: string, key: string, expected: string): Body | undefined {
    const before = this.get(collection, key);
    if (before === undefined || before.metadata.resourceVersion !== expected) return undefined;
    const object = { ...before, metadata: { ...before.metadata } };
    this.#apply({ collection, key, object, before, type: "DELETED" });
    return object;
  }

  /** Calls `listener` for each change to a collection (`*`: to any), in order, once it is durable. Returns the way to stop. */
  listen(collection: string, listener: Listener): () => void {
    const set = this.#listeners.get(collection) ?? new Set();
    this.#listeners.set(collection, set.add(listener));
    return () => void set.delete(listener);
  }

  /** Resolves when everything written so far is on the disk; rejects when it could not be written. Undefined: it already is. */
  durable(): Promise<void> | undefined {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    return this.#flush?.promise;
  }

  close(): void {
    this.#flush?.run();
    this.#journal?.close();
  }

  #apply(change: Omit<StoreEvent, "version">): void {
    if (this.#broken !== undefined) throw this.#broken;
    const event = { ...change, version: ++this.#version };
    event.object.metadata.resourceVersion = String(event.version);
    this.#collection(event.collection).apply(event);
    if (this.#journal === undefined) this.#show(event);
    else {
      this.#pending.push(event);
      this.#flush ??= this.#scheduleFlush(this.#journal);
    }
  }

  #scheduleFlush(journal: Journal): { promise: Promise<void>; run: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const run = (): void => {
      clearImmediate(turn);
      const events = this.#pending;
      this.#pending = [];
      this.#flush = undefined;
      try {
        journal.commit(newest(events), this.#version);
      } catch (cause) {
        // Memory is ahead of the disk and can't be trusted: nothing is acknowledged from here on.
        this.#broken = new Fault(
          "Internal",
          "storage",
          "a write could not be made durable; the server must be restarted",
          { cause },
        );
        reject(this.#broken);
        return;
      }
      for (const event of events) this.#show(event);
      resolve();
    };
    const turn = setImmediate(run);
    promise.catch(() => {}); // whoever asked for `durable` hears of it
    return { promise, run };
  }

  #show(event: StoreEvent): void {
    this.#shown = event.version;
    for (const name of [event.collection, "*"]) for (const listener of this.#listeners.get(name) ?? []) listener(event);
  }

  #collection(name: string): Collection {
    let found = this.#collections.get(name);
    if (found === undefined) {
      found = new Collection(this.#history, this.#origin);
      this.#collections.set(name, found);
    }
    return found;
  }
}

/** Only the last state of each object needs to be written. */
function newest(events: readonly StoreEvent[]): Iterable<JournalEntry> {
  const last = new Map<string, JournalEntry>();
  for (const { collection, key, object, type } of events)
    last.set(`${collection}\n${key}`, { collection, key, object: type === "DELETED" ? undefined : object });
  return last.values();
}
