import { type KubeObject, keyOf, type ObjectMeta } from "./object.ts";
import { isNewer } from "./resource-version.ts";

/** What became of one object. `before` is what the store held; for a deletion, `object` is the last state known. */
export interface Change<T extends KubeObject = KubeObject> {
  type: "added" | "updated" | "deleted";
  object: T;
  before: T | undefined;
  /** Part of the first list: nothing happened, it is only new to this process. */
  initial: boolean;
}

export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/**
 * The objects of one watched selection, with declared indexes. It never goes back to an older version of an object, and notifies every
 * listener each change once, after it is visible.
 */
export class Store<T extends KubeObject = KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #listeners: ((change: Change<T>) => void)[] = [];
  readonly #firstList = Promise.withResolvers<void>();
  readonly #firstAnswer = Promise.withResolvers<void>();
  readonly #missingListeners: ((missing: boolean) => void)[] = [];
  #synced = false;
  #missing = false;

  /** Whether a whole list has been seen. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Resolves after the first whole list. */
  whenSynced(): Promise<void> {
    return this.#firstList.promise;
  }

  /** Whether the API did not serve the resource when it was asked last. */
  get missing(): boolean {
    return this.#missing;
  }

  /** Resolves after the first whole list, or when the API answered that it does not serve the resource. */
  whenAnswered(): Promise<void> {
    return this.#firstAnswer.promise;
  }

  /** Calls the listener when the resource turns out to be missing, and when it is served again. */
  listenMissing(listener: (missing: boolean) => void): void {
    this.#missingListeners.push(listener);
  }

  /** Notes that the API does not serve the resource. The objects stay: a lost definition is no proof that they were deleted. */
  markMissing(): void {
    this.#setMissing(true);
    this.#firstAnswer.resolve();
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  listen(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  /** Declares an index. False when another function has the name already. */
  addIndex(name: string, values: IndexFunction<T>): boolean {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known.values === values;
    this.#indexes.set(name, { values, keys: new Map() });
    return true;
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  byIndex(name: string, value: string): readonly T[] {
    const keys = this.#indexes.get(name)?.keys.get(value) ?? [];
    return [...keys].map((key) => this.#objects.get(key)!);
  }

  /** Takes an object as a watch delivered it. */
  put(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.#objects.get(key);
    if (before !== undefined && !isNewer(object.metadata.resourceVersion, before.metadata.resourceVersion)) return;
    this.#set(key, slim(object), before, false);
  }

  /** Takes a deletion as a watch delivered it; one of an older incarnation is ignored. */
  remove(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.#objects.get(key);
    if (before === undefined) return;
    if (isNewer(before.metadata.resourceVersion, object.metadata.resourceVersion)) return;
    // The deletion event carries the final state: its deletionTimestamp and finalizers are newer than the store's.
    this.#delete(key, before, slim(object));
  }

  /** Makes the store equal to a whole list. */
  replace(objects: readonly T[]): void {
    const initial = !this.#synced;
    const keys = new Set<string>();
    for (const object of objects) {
      const key = keyOf(object.metadata);
      keys.add(key);
      const before = this.#objects.get(key);
      const same = before !== undefined && before.metadata.resourceVersion === object.metadata.resourceVersion;
      if (!same || before.metadata.uid !== object.metadata.uid) this.#set(key, slim(object), before, initial);
    }
    for (const [key, before] of [...this.#objects]) if (!keys.has(key)) this.#delete(key, before, before);
    this.#synced = true;
    this.#setMissing(false);
    this.#firstList.resolve();
    this.#firstAnswer.resolve();
  }

  #setMissing(missing: boolean): void {
    if (missing === this.#missing) return;
    this.#missing = missing;
    for (const listener of this.#missingListeners) listener(missing);
  }

  #set(key: string, object: T, before: T | undefined, initial: boolean): void {
    for (const index of this.#indexes.values()) {
      if (before !== undefined) unindex(index, key, before);
      for (const value of index.values(object)) {
        const keys = index.keys.get(value);
        if (keys === undefined) index.keys.set(value, new Set([key]));
        else keys.add(key);
      }
    }
    this.#objects.set(key, object);
    this.#notify({ type: before === undefined ? "added" : "updated", object, before, initial });
  }

  #delete(key: string, before: T, object: T): void {
    for (const index of this.#indexes.values()) unindex(index, key, before);
    this.#objects.delete(key);
    this.#notify({ type: "deleted", object, before, initial: false });
  }

  #notify(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

interface Index<T extends KubeObject> {
  values: IndexFunction<T>;
  keys: Map<string, Set<string>>;
}

function unindex<T extends KubeObject>(index: Index<T>, key: string, object: T): void {
  for (const value of index.values(object)) {
    const keys = index.keys.get(value);
    keys?.delete(key);
    if (keys?.size === 0) index.keys.delete(value);
  }
}

/** Nobody reads managedFields from a cache, and they are often half of an object. */
function slim<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const metadata: ObjectMeta = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}
