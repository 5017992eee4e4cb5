import type { Clock, Log, Random } from "@slipway/base";
import type { Cache } from "./cache.ts";
import type { Client } from "./client.ts";
import type { EventRecorder } from "./events.ts";
import type { KubeObject, Ref, Resource } from "./object.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** What a controller may do to a resource. RBAC is generated from it and its client refuses the rest. */
export interface Access {
  /** Plural `*`: all resources of the group. */
  resource: Resource;
  verbs: readonly Verb[];
  subresource?: "status" | "scale" | "eviction";
  /** Only objects of these names (RBAC `resourceNames`). */
  names?: readonly string[];
  /** Only in this namespace: a Role in place of a ClusterRole. */
  namespace?: string;
}

/** Where a controller's keys come from. */
export interface Source<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /**
   * The controller works while the API does not serve the resource: the cache is empty then, and filled when the definition is installed.
   * Unset: its whole system waits for the definition.
   */
  optional?: boolean;
  /** Keys to reconcile for an event of `object`; unset: the object's own. `before` is what the cache held. */
  keys?(object: T, before: T | undefined, cache: Cache): readonly Ref[];
  /** Whether a change of an object is worth a reconcile; unset: every change. That one comes, goes or is made anew always is: no question then. */
  when?(object: T, before: T): boolean;
  /** Named indexes over the cached objects of this resource: `cache.byIndex`. Sources that share a name share the function. */
  indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
}

/** `done`: nothing until the next event. Otherwise once more after this many milliseconds, with a word on what is waited for. */
export type Outcome = { done: true } | { againAfterMs: number };
export const DONE: Outcome = { done: true };

export interface Context {
  client: Client;
  cache: Cache;
  clock: Clock;
  random: Random;
  events: EventRecorder;
  log: Log;
  /** Plain data as it leaves: what a status is compared by before it is written. */
  clean<T>(value: T): T;
  /** Whether `clean` would change nothing in what is in the cache. Unset: nobody knows. */
  isClean?: ((value: object) => boolean) | undefined;
  /** Aborted when the manager stops or the lease is lost. */
  signal: AbortSignal;
}

/**
 * Brings the world towards one object. A controller is data: what it watches, what it may touch,
 * and one function that may be called at any time, for the same key never twice at once.
 * A thrown `Fault` is retried with back-off when it is retryable, and waits for a change when it is terminal.
 */
export interface Controller {
  readonly name: string;
  /** The system it belongs to: the unit of `--systems`, and of leader election where work is not shared out. */
  readonly system: string;
  readonly sources: readonly Source[];
  readonly access: readonly Access[];
  /** Keys that come from elsewhere than Kubernetes. Called whenever workers start; what it returns, when they end. */
  listen?(wake: (ref: Ref) => void): () => void;
  /**
   * What the key stays together with: one replica at a time works on all that has this owner, whatever controller it belongs to. Must follow from the
   * key and its own object alone. Unset: the controller stays together with its system.
   */
  owner?(ref: Ref, cache: Cache): string;
  /**
   * Drops what is remembered of a key that is worked on elsewhere from now on, or has ended there: then the cache has no object of it. Called also for
   * keys that nothing is remembered of, and never while the key is reconciled. Must not throw.
   */
  left?(ref: Ref, cache: Cache): void;
  /** How many keys at once. 8 unless said. */
  readonly workers?: number;
  /** Until a reconcile is aborted, in ms. Default: the manager's. */
  readonly reconcileMs?: number;
  reconcile(ref: Ref, context: Context): Promise<Outcome>;
}

/** Types a source against its own resource, then forgets the type, so sources of several kinds stand in one list. */
export function source<T extends KubeObject>(of: Source<T>): Source {
  return of as unknown as Source;
}
