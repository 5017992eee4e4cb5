/**
 * The objects of the API: in memory, with one version counter over all of them, and durable when a journal is given.
 * A write changes memory at once and is acknowledged (`durable`), and shown to watchers, only once it is on the disk. Writes of one
 * turn of the event loop are committed together. While the disk takes no writes (full, failing), they are refused and everything
 * else goes on. Knows nothing of requests, schemas or kinds.
 */
import { type Clock, diskFault, type Fault, type Log, type Timer } from "@slipway/base";
import type { Body } from "../model/served.ts";
import { Collection, type StoreEvent } from "./collection.ts";
import type { Journal, JournalEntry } from "./journal.ts";

export type Listener = (event: StoreEvent) => void;

export interface StoreOptions {
  /** Unset: nothing is durable. `clock`: when a disk that takes no writes is tried again. */
  durability?: { journal: Journal; clock: Pick<Clock, "after">; log: Log } | undefined;
  /** How many changes each collection remembers for watchers that resume. */
  history?: number;
  /** By which changes become old. Unset: all that `history` allows are remembered. */
  clock?: Pick<Clock, "monotonic" | "after">;
}

const DEFAULT_HISTORY = 4096;

/**
 * How long changes are remembered: the `eventFreshDuration` of kube-apiserver's watch cache. Each holds an object as it was before and after,
 * so the changes of a burst outweigh what they led to.
 */
const FRESH_MS = 75_000;
/** For so long, changes have one age. */
const AGE_MS = 5_000;

/** How long after a write failed until the disk is tried again. */
const RETRY_MS = 1000;

/**
 * All objects, by collection and key, under one version that rises with each change. Reads and writes are at once; with a journal, `durable`
 * resolves when what was written is on the disk.
 */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #durability: StoreOptions["durability"];
  readonly #history: number;
  /** The version that memory was loaded at: older changes are not known here. */
  readonly #origin: number;
  readonly #clock: StoreOptions["clock"];
  /** Which version was the newest at a time, every few seconds of those in which changes are fresh. */
  readonly #ages: { version: number; at: number }[] = [];
  #forgetting: Timer | undefined;
  #version: number;
  #shown: number;
  #pending: StoreEvent[] = [];
  #flush: { promise: Promise<void>; run: () => void } | undefined;
  #broken: Fault | undefined;
  #retry: Timer | undefined;

  constructor(options: StoreOptions = {}) {
    this.#durability = options.durability;
    this.#history = options.history ?? DEFAULT_HISTORY;
    this.#clock = options.clock;
    const loaded: [string, string, Body][] = [];
    const found = this.#durability?.journal.load(({ collection, key, object }) =>
      loaded.push([collection, key, object]),
    );
    this.#version = Math.max(1, found?.version ?? 0);
    this.#shown = this.#version;
    this.#origin = this.#version;
    for (const [collection, key, object] of loaded) this.#collection(collection).load(key, object);
  }

  /** The version of the newest change that watchers have been shown. */
  get version(): number {
    return this.#shown;
  }

  /** Why no write is taken at the moment; undefined while all is well. */
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

  /**
   * Resolves when everything written so far is on the disk. Rejects when it could not be written: it is undone then, and what was read
   * meanwhile is not true. Undefined: it is on the disk already.
   */
  durable(): Promise<void> | undefined {
    return this.#flush?.promise;
  }

  /** Resolves when nothing is on its way to the disk: what is read then is as durable as what was acknowledged. */
  async settled(): Promise<void> {
    // What can't be kept is undone, and its writer gets the error.
    while (this.#flush !== undefined) await this.#flush.promise.catch(() => {});
  }

  close(): void {
    this.#flush?.run();
    this.#retry?.cancel();
    this.#forgetting?.cancel();
    this.#durability?.journal.close();
  }

  #apply(change: Omit<StoreEvent, "version">): void {
    if (this.#broken !== undefined) throw this.#broken;
    const event = { ...change, version: ++this.#version };
    event.object.metadata.resourceVersion = String(event.version);
    this.#collection(event.collection).apply(event);
    if (this.#clock !== undefined) this.#age(this.#clock);
    if (this.#durability === undefined) this.#show(event);
    else {
      this.#pending.push(event);
      this.#flush ??= this.#scheduleFlush(this.#durability.journal);
    }
  }

  /** Notes the newest change's age, and sees to it that it is forgotten in time, whether others follow or not. */
  #age(clock: NonNullable<StoreOptions["clock"]>): void {
    const now = clock.monotonic();
    const last = this.#ages.at(-1);
    if (last !== undefined && now - last.at < AGE_MS) last.version = this.#version;
    else this.#ages.push({ version: this.#version, at: now });
    this.#forgetting ??= clock.after(FRESH_MS + AGE_MS, () => this.#forget(clock));
  }

  /** Lets the collections forget what is not fresh any more. */
  #forget(clock: NonNullable<StoreOptions["clock"]>): void {
    const old = this.#ages.shift()!;
    for (const collection of this.#collections.values()) collection.forget(old.version);
    const [next] = this.#ages;
    const waitMs = next === undefined ? 0 : next.at + AGE_MS + FRESH_MS - clock.monotonic();
    this.#forgetting = next && clock.after(Math.max(0, waitMs), () => this.#forget(clock));
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
      } catch (error) {
        // Their versions are not given again: somebody may have read one and hold it for the object's.
        for (const event of events.reverse()) this.#collection(event.collection).undo(event);
        reject(this.#halt(error));
        return;
      }
      for (const event of events) this.#show(event);
      resolve();
    };
    const turn = setImmediate(run);
    promise.catch(() => {}); // whoever asked for `durable` gets the error
    return { promise, run };
  }

  /** Takes no write until the disk does. */
  #halt(error: unknown): Fault {
    const { journal, clock, log } = this.#durability!;
    const fault = diskFault("storage", error);
    if (this.#broken === undefined)
      log.error({ error: fault.advice }, "objects can be read only: they can't be written to the disk");
    this.#broken = fault;
    this.#retry?.cancel();
    this.#retry = clock.after(RETRY_MS, () => {
      try {
        journal.commit([], this.#version);
      } catch (again) {
        this.#halt(again);
        return;
      }
      this.#broken = undefined;
      log.warn({}, "the disk takes writes again");
    });
    return fault;
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
