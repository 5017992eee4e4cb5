/** For the runtime's own tests: an in-memory API with resourceVersions, watches, compaction, and faults on demand. */

import { EventPipe } from "./event-pipe.ts";
import type { KubeObject } from "./object.ts";
import type { ApiAnswer, ApiRequest, Transport, WatchEvent, WatchStream } from "./transport.ts";

interface Logged {
  version: number;
  prefix: string;
  event: WatchEvent;
}

interface Watcher {
  prefix: string;
  pipe: EventPipe<WatchEvent>;
}

/** An API of any kinds in memory, as far as a client's and a cache's own tests need one. No rules, no versions of schemas, no rights. */
export class FakeApi implements Transport {
  readonly objects = new Map<string, KubeObject>();
  /** Every request that arrived: `PATCH /api/v1/…`. */
  readonly requests: ApiRequest[] = [];
  /** Whether a watch may begin with what there is; else that is refused, as servers without the feature do. */
  streamsLists = false;
  /** Looks at a request before it is served; an answer or a rejection replaces the service. */
  intercept: (request: ApiRequest) => ApiAnswer | undefined | Promise<ApiAnswer | undefined> = () => undefined;
  #version = 100;
  #compacted = 0;
  #log: Logged[] = [];
  #watchers = new Set<Watcher>();

  async request(request: ApiRequest): Promise<ApiAnswer> {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    const other = await this.intercept(request);
    if (other !== undefined) return other;
    const { path, method } = request;
    const body = structuredClone(request.body) as KubeObject;
    if (path.endsWith("/eviction")) return this.#delete(path.slice(0, -"/eviction".length));
    if (method === "POST") return this.#create(path, body);
    if (method === "DELETE") return this.#delete(path);
    const target = path.replace(/\/status$/, "");
    const known = this.objects.get(target);
    if (method === "GET" && known === undefined && isCollection(path)) return this.#list(path, request.query ?? {});
    if (known === undefined) return failure(404, "NotFound", `${path} not found`);
    if (method === "GET") return answer(200, known);
    const next = method === "PUT" ? body : (merge(known, body) as KubeObject);
    const expected = body.metadata?.resourceVersion;
    if (expected !== undefined && expected !== known.metadata.resourceVersion)
      return failure(409, "Conflict", "the object has been modified");
    return answer(200, this.#store(target, next, "MODIFIED"));
  }

  async watch(request: ApiRequest): Promise<WatchStream | ApiAnswer> {
    const other = await this.intercept(request);
    if (other !== undefined) return other;
    const initial = request.query?.sendInitialEvents === "true";
    if (initial && !this.streamsLists) return failure(422, "Invalid", "sendInitialEvents is forbidden for watch");
    const from = initial ? this.#version : Number(request.query?.resourceVersion ?? 0);
    if (from < this.#compacted) return failure(410, "Expired", "too old resource version");
    const prefix = `${request.path}/`;
    const watcher: Watcher = { prefix, pipe: new EventPipe(1e9, () => {}) };
    if (initial) this.#putInitial(watcher.pipe, request.path);
    for (const { version, event, prefix: p } of this.#log) if (version > from && p === prefix) watcher.pipe.put(event);
    this.#watchers.add(watcher);
    const onAbort = (): void => watcher.pipe.end(request.signal?.reason);
    request.signal?.addEventListener("abort", onAbort, { once: true });
    return watcher.pipe.values(() => {
      this.#watchers.delete(watcher);
      request.signal?.removeEventListener("abort", onAbort);
    });
  }

  #putInitial(pipe: Watcher["pipe"], path: string): void {
    for (const [key, object] of this.objects) if (matches(key, path)) pipe.put({ type: "ADDED", object });
    pipe.put(endOfInitial(String(this.#version)));
  }

  async close(): Promise<void> {
    this.disconnect();
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  put(path: string, object: object): KubeObject {
    const known = this.objects.get(path);
    return this.#store(path, structuredClone(object) as KubeObject, known === undefined ? "ADDED" : "MODIFIED");
  }

  remove(path: string): void {
    this.#delete(path);
  }

  /** Ends all watches, with an error or as if their time were over. */
  disconnect(error?: unknown): void {
    for (const { pipe } of this.#watchers) pipe.end(error);
    this.#watchers.clear();
  }

  /** Forgets the history: watches from before get 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#log = [];
  }

  /** Sends watchers once more the event of `back` events ago. */
  repeat(back: number): void {
    const logged = this.#log.at(-1 - back);
    if (logged !== undefined) this.#notify(logged);
  }

  bookmark(): void {
    const object = { metadata: { resourceVersion: String(this.#version) } };
    for (const { pipe } of this.#watchers) pipe.put({ type: "BOOKMARK", object });
  }

  #list(path: string, query: Readonly<Record<string, string>>): ApiAnswer {
    const all = [...this.objects].filter(([key]) => matches(key, path)).map(([, object]) => object);
    const from = Number(query.continue ?? 0);
    const to = query.limit === undefined ? all.length : from + Number(query.limit);
    const more = to < all.length ? { continue: String(to) } : {};
    const metadata = { resourceVersion: String(this.#version), ...more };
    return answer(200, { kind: "List", apiVersion: "v1", metadata, items: all.slice(from, to) });
  }

  #create(path: string, body: KubeObject): ApiAnswer {
    const key = `${path}/${body.metadata.name}`;
    if (this.objects.has(key)) return failure(409, "AlreadyExists", `${key} already exists`);
    return answer(201, this.#store(key, body, "ADDED"));
  }

  #delete(path: string): ApiAnswer {
    const known = this.objects.get(path);
    if (known === undefined) return failure(404, "NotFound", `${path} not found`);
    this.objects.delete(path);
    const version = String(++this.#version);
    const object = { ...known, metadata: { ...known.metadata, resourceVersion: version } };
    this.#notify(this.#remember(path, { type: "DELETED", object }));
    return answer(200, object);
  }

  #store(path: string, object: KubeObject, type: "ADDED" | "MODIFIED"): KubeObject {
    const resourceVersion = String(++this.#version);
    const uid = this.objects.get(path)?.metadata.uid ?? `uid-${resourceVersion}`;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion, uid } };
    this.objects.set(path, stored);
    this.#notify(this.#remember(path, { type, object: stored }));
    return stored;
  }

  #remember(path: string, event: WatchEvent): Logged {
    const logged = { version: this.#version, prefix: path.slice(0, path.lastIndexOf("/") + 1), event };
    this.#log.push(logged);
    return logged;
  }

  #notify({ prefix, event }: Logged): void {
    for (const watcher of this.#watchers) if (watcher.prefix === prefix) watcher.pipe.put(event);
  }
}

function endOfInitial(resourceVersion: string): WatchEvent {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { type: "BOOKMARK", object: { metadata: { resourceVersion, annotations } } };
}

/** A Status object as an answer. */
export function failure(
  status: number,
  reason: string,
  message: string,
  { headers = {}, details }: { headers?: Record<string, string>; details?: object } = {},
): ApiAnswer {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason, message, code: status, details };
  return { status, headers, body };
}

function answer(status: number, body: unknown): ApiAnswer {
  return { status, headers: {}, body };
}

function isCollection(path: string): boolean {
  return /\/(nodes|pods|leases|events|secrets|configmaps)$/.test(path);
}

function matches(key: string, collection: string): boolean {
  return key.startsWith(`${collection}/`) && !key.slice(collection.length + 1).includes("/");
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: Record<string, unknown> = { ...(target as object) };
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete out[name];
    else out[name] = merge(out[name], value);
  return out;
}
