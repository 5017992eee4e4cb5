import type { Clock } from "@slipway/base";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import { type KubeObject, type Ref, type Resource, refOf } from "./object.ts";
import { isNewer } from "./resource-version.ts";

/**
 * A watch that has not shown a write by then is slow or broken; the write's own guard against conflicts is enough from there on. Under a burst
 * of a thousand objects a sound watch is seconds behind, and each decision on the past costs a call of a cloud.
 */
const PATIENCE_MS = 10_000;

interface Write {
  resource: Resource;
  ref: Ref;
  version: string;
  created: boolean;
  at: number;
}

/**
 * What the reconciles of each key wrote and the cache does not show yet. A reconcile that starts before its predecessor's writes
 * are in the cache decides on the past: its writes end in a `Conflict` at best, and its reads of others were for nothing.
 */
export class OwnWrites {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #cache: Cache;
  /** Only what the cache holds can be waited for. */
  readonly #cached: readonly Resource[];
  readonly #byKey = new Map<string, Write[]>();

  constructor(clock: Pick<Clock, "monotonic">, cache: Cache, cached: readonly Resource[]) {
    this.#clock = clock;
    this.#cache = cache;
    this.#cached = cached;
  }

  /** Whether the cache still has to catch up with what was written for `key`. */
  behind(key: string): boolean {
    const open = this.#byKey.get(key)?.filter((write) => this.#isOpen(write)) ?? [];
    if (open.length === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, open);
    return open.length > 0;
  }

  /** The same client, remembering what is written for `key`. */
  noting(client: Client, key: string): Client {
    const noted = <T extends KubeObject>(resource: Resource<T>, object: T, created = false): T => {
      if (this.#cached.includes(resource as Resource)) this.#note(key, resource as Resource, object, created);
      return object;
    };
    return {
      ...client,
      create: async (resource, draft, options) => noted(resource, await client.create(resource, draft, options), true),
      update: async (resource, object, options) => noted(resource, await client.update(resource, object, options)),
      updateStatus: async (resource, object, options) =>
        noted(resource, await client.updateStatus(resource, object, options)),
      patch: async (resource, ref, patch, options) =>
        noted(resource, await client.patch(resource, ref, patch, options)),
    };
  }

  #note(key: string, resource: Resource, object: KubeObject, created: boolean): void {
    const { resourceVersion: version } = object.metadata;
    const write = { resource, ref: refOf(object), version, created, at: this.#clock.monotonic() };
    const others = this.#byKey.get(key);
    if (others === undefined) this.#byKey.set(key, [write]);
    else others.push(write);
  }

  #isOpen({ resource, ref, version, created, at }: Write): boolean {
    if (this.#clock.monotonic() - at >= PATIENCE_MS) return false;
    const held = this.#cache.get(resource, ref);
    // What was there and is not any more was deleted since.
    return held === undefined ? created : isNewer(version, held.metadata.resourceVersion);
  }
}
