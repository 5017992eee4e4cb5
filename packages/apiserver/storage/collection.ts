import type { Body } from "../model/served.ts";
import { SortedKeys } from "./sorted-keys.ts";

/** One change, as watchers and controllers see it. Versions count over the whole store. */
export interface StoreEvent {
  version: number;
  type: "ADDED" | "MODIFIED" | "DELETED";
  collection: string;
  key: string;
  /** After the change; for DELETED the last state, with the deletion's version. */
  object: Body;
  before: Body | undefined;
}

/** So many of the latest changes are remembered however old they are, as by kube-apiserver's watch cache. */
const LEAST_REMEMBERED = 100;

/**
 * The objects of one resource by key, in key order, and the latest changes to them. The past that the changes span
 * can be read too: the state at an older version is the present with the changes since undone.
 */
export class Collection {
  readonly #objects = new Map<string, Body>();
  readonly #keys = new SortedKeys();
  /** Oldest first; the live part starts at `#start`, so dropping the oldest is cheap. */
  #events: StoreEvent[] = [];
  #start = 0;
  readonly #limit: number;
  /** States before this version are not known any more. */
  #oldest: number;

  constructor(limit: number, oldest: number) {
    this.#limit = limit;
    this.#oldest = oldest;
  }

  get size(): number {
    return this.#keys.size;
  }

  get(key: string): Body | undefined {
    return this.#objects.get(key);
  }

  /** Puts an object from the journal: no change, no event. */
  load(key: string, object: Body): void {
    this.#set(key, object);
  }

  apply(event: StoreEvent): void {
    if (event.type === "DELETED") {
      this.#objects.delete(event.key);
      this.#keys.delete(event.key);
    } else this.#set(event.key, event.object);
    this.#events.push(event);
    if (this.#events.length - this.#start > this.#limit) this.#oldest = this.#events[this.#start++]!.version;
    // What is dropped keeps its objects alive until here.
    if (this.#start > this.#limit / 4) this.#release();
  }

  /** Forgets changes up to `version`, but for the latest hundred. */
  forget(version: number): void {
    const end = this.#events.length - LEAST_REMEMBERED;
    const start = this.#start;
    while (this.#start < end && this.#events[this.#start]!.version <= version)
      this.#oldest = this.#events[this.#start++]!.version;
    if (this.#start > start) this.#release();
  }

  /** Takes back the newest change: it was never shown. */
  undo(event: StoreEvent): void {
    if (this.#events.at(-1) === event) this.#events.pop();
    if (event.before !== undefined) this.#set(event.key, event.before);
    else if (this.#objects.delete(event.key)) this.#keys.delete(event.key);
  }

  /** Changes after `version`, oldest first; undefined when some of them are forgotten. */
  since(version: number): StoreEvent[] | undefined {
    if (version < this.#oldest) return undefined;
    let at = this.#events.length;
    while (at > this.#start && this.#events[at - 1]!.version > version) at--;
    return this.#events.slice(at);
  }

  /** Keys that start with `prefix` and come at or after `from`, with their objects, in key order. */
  *range(prefix: string, from: string): Generator<[string, Body]> {
    for (const key of this.#keys.from(from > prefix ? from : prefix)) {
      if (!key.startsWith(prefix)) return;
      yield [key, this.#objects.get(key)!];
    }
  }

  /** How many `range` would yield. */
  count(prefix: string, from: string): number {
    const begin = this.#keys.before(from > prefix ? from : prefix);
    // The first text that comes after all that start with the prefix.
    const end = prefix === "" ? this.#keys.size : this.#keys.before(prefix.slice(0, -1) + after(prefix.at(-1)!));
    return end - begin;
  }

  /** Whether nothing has changed since `version`. */
  isAsAt(version: number): boolean {
    return (this.#events.at(-1)?.version ?? this.#oldest) <= version;
  }

  /** `range` as it was at `version`; undefined when that is forgotten. */
  rangeAt(version: number, prefix: string, from: string): Iterable<[string, Body]> | undefined {
    const undo = this.since(version);
    if (undo === undefined) return undefined;
    if (undo.length === 0) return this.range(prefix, from);
    const was = new Map<string, Body | undefined>();
    for (const event of undo) if (!was.has(event.key)) was.set(event.key, event.before);
    const now = [...this.range(prefix, from)].filter(([key]) => !was.has(key));
    const then = [...was].filter(
      (e): e is [string, Body] => e[1] !== undefined && e[0].startsWith(prefix) && e[0] >= from,
    );
    return [...now, ...then].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #release(): void {
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }

  #set(key: string, object: Body): void {
    if (!this.#objects.has(key)) this.#keys.add(key);
    this.#objects.set(key, object);
  }
}

function after(char: string): string {
  return String.fromCharCode(char.charCodeAt(0) + 1);
}
