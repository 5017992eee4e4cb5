import type { Draft, KubeObject, Ref, Resource } from "./object.ts";
import type { WatchStream } from "./transport.ts";

export interface CallOptions {
  signal?: AbortSignal;
  /** The whole call with its retries. 30 s unless said. */
  timeoutMs?: number;
}

export interface WriteOptions extends CallOptions {
  dryRun?: boolean;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects per page; the client follows `continue` itself. 500 unless said. */
  limit?: number;
  /** `"0"`: any version the server has at hand; unset: the newest, consistently. */
  resourceVersion?: string;
}

export interface List<T> {
  items: T[];
  resourceVersion: string;
}

export interface WatchOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  sendInitialEvents?: boolean;
  /** After how many seconds the server should end the watch by itself. */
  timeoutSeconds?: number;
}

export type Patch =
  | { type: "merge"; body: object }
  | { type: "json"; body: readonly JsonPatchOperation[] }
  | { type: "strategic"; body: object }
  | { type: "apply"; body: object; fieldManager: string; force?: boolean };

export interface JsonPatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
}

export interface PatchOptions extends WriteOptions {
  subresource?: "status" | "scale";
}

export interface DeleteOptions extends WriteOptions {
  /** Refused with `Conflict` when the object is not this very one. */
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  propagation?: "Background" | "Foreground" | "Orphan";
}

/**
 * Typed calls to a Kubernetes API. Every failure is a `Fault` whose code is the API's reason
 * (`NotFound`, `Conflict`, `AlreadyExists`, `Gone`, `Invalid`, …). 429 and 5xx are retried within the
 * call's deadline, Retry-After obeyed; a lost answer is retried only for reads.
 */
export interface Client {
  get<T extends KubeObject>(resource: Resource<T>, ref: Ref, options?: CallOptions): Promise<T>;
  /** Like `get`, with `undefined` in place of `NotFound`. */
  find<T extends KubeObject>(resource: Resource<T>, ref: Ref, options?: CallOptions): Promise<T | undefined>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>>;
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): Promise<WatchStream>;
  create<T extends KubeObject>(resource: Resource<T>, draft: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Replaces the object; its `resourceVersion` guards it. */
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  updateStatus<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  /** A merge or JSON patch that carries `metadata.resourceVersion` is guarded by it. */
  patch<T extends KubeObject>(resource: Resource<T>, ref: Ref, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Resolves when the deletion is accepted, also when the object was already gone. */
  delete(resource: Resource, ref: Ref, options?: DeleteOptions): Promise<void>;
  /** Asks for the eviction of a Pod (policy/v1). `Throttled` when a disruption budget forbids it now. */
  evict(pod: Required<Ref>, options?: WriteOptions): Promise<void>;
}
