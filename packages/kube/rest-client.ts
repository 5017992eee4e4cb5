import { type Clock, Fault, isFault, type Log, type Random } from "@slipway/base";
import { caller } from "./call.ts";
import type {
  CallOptions,
  Client,
  DeleteOptions,
  List,
  ListOptions,
  Patch,
  PatchOptions,
  WriteOptions,
} from "./client.ts";
import { acceptOf, apiVersionOf, type KubeObject, nameOf, pathOf, type Ref, type Resource } from "./object.ts";
import { type Outgoing, outgoingBody } from "./outgoing.ts";
import { TokenBucket } from "./rate-limit.ts";
import type { ApiRequest, Transport } from "./transport.ts";
import { openWatch } from "./watch-call.ts";

export interface ClientOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** Unset: not limited. A bucket may be shared between clients. */
  limits?: { qps: number; burst: number } | TokenBucket;
  /** Recorded as the writer of fields (`managedFields`). */
  fieldManager?: string;
  /** Whether the server looks for unknown and repeated fields in what is written; its own default warns of them, in headers that this client does not read. */
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** What statuses and reports pass before they leave. */
  outgoing?: Outgoing;
}

const DEFAULT_PAGE = 500;
const PATCH_TYPES: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/**
 * Typed calls over a transport: see `Client`. A write is repeated only when the first try surely had no effect: it never reached
 * the server, or was answered 429, 503, or an error with Retry-After.
 */
export function createClient(transport: Transport, ports: ClientOptions): Client {
  const { clock, random, log, limits, fieldManager, fieldValidation, outgoing } = ports;
  const leaving = <B>(body: B, resource: Resource, subresource?: string): B =>
    outgoing === undefined ? body : outgoingBody(body, resource, subresource, outgoing);
  const bucket = limits === undefined || limits instanceof TokenBucket ? limits : new TokenBucket(clock, limits);

  const call = caller({ transport, clock, random, log, bucket });

  const at = (resource: Resource, ref: Ref, subresource?: string): string => {
    requireNamespace(resource, ref);
    return pathOf(resource, subresource === undefined ? ref : { ...ref, subresource });
  };
  const write = (options: WriteOptions, more: Record<string, string> = {}): Record<string, string> => ({
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
    ...(options.dryRun === true ? { dryRun: "All" } : {}),
    ...more,
  });

  async function put<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions, sub?: string) {
    const ref: Ref = object.metadata;
    const body = leaving({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }, resource, sub);
    const request: ApiRequest = { method: "PUT", path: at(resource, ref, sub), query: write(options), body };
    return (await call({ on: nameOf(resource, ref), request, options })) as T;
  }

  const client: Client = {
    async get<T extends KubeObject>(resource: Resource<T>, ref: Ref, options: CallOptions = {}) {
      const request: ApiRequest = { method: "GET", path: at(resource, ref) };
      return (await call({ on: nameOf(resource, ref), request, options })) as T;
    },

    async find(resource, ref, options) {
      return unlessMissing(client.get(resource, ref, options));
    },

    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      const page = async (query: Record<string, string>): Promise<ListBody<T>> => {
        const request: ApiRequest = {
          method: "GET",
          path: pathOf(resource, scope(options)),
          query,
          ...acceptOf(resource, true),
        };
        return (await call({ on: `${resource.kind} list`, request, options })) as ListBody<T>;
      };
      return listPages(resource, options, page);
    },

    watch(resource, options) {
      return openWatch({ transport, clock, bucket }, resource, options);
    },

    async create<T extends KubeObject>(resource: Resource<T>, draft: object, options: WriteOptions = {}) {
      const meta = (draft as { metadata: { name?: string; generateName?: string; namespace?: string } }).metadata;
      const name = meta.name ?? `${meta.generateName ?? ""}*`;
      const ref: Ref = meta.namespace === undefined ? { name } : { name, namespace: meta.namespace };
      requireNamespace(resource, ref);
      const body = leaving({ ...draft, apiVersion: apiVersionOf(resource), kind: resource.kind }, resource);
      const request: ApiRequest = {
        method: "POST",
        path: pathOf(resource, scope(ref)),
        query: write(options),
        body,
      };
      return (await call({ on: nameOf(resource, ref), request, options })) as T;
    },

    update: (resource, object, options = {}) => put(resource, object, options),
    updateStatus: (resource, object, options = {}) => put(resource, object, options, "status"),

    async patch<T extends KubeObject>(resource: Resource<T>, ref: Ref, patch: Patch, options: PatchOptions = {}) {
      const { body, query } = patchOf(resource, patch);
      const request: ApiRequest = {
        method: "PATCH",
        path: at(resource, ref, options.subresource),
        query: write(options, query),
        contentType: PATCH_TYPES[patch.type],
        body: leaving(body, resource, options.subresource),
      };
      return (await call({ on: nameOf(resource, ref), request, options })) as T;
    },

    async delete(resource, ref, options = {}) {
      const body = deleteOptions(options);
      const request: ApiRequest = { method: "DELETE", path: at(resource, ref), body };
      await unlessMissing(call({ on: nameOf(resource, ref), request, options }));
    },

    async evict(pod, options = {}) {
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: pod };
      const path = pathOf(POD, { ...pod, subresource: "eviction" });
      const request: ApiRequest = { method: "POST", path, query: write(options), body };
      await unlessMissing(call({ on: nameOf(POD, pod), request, options }));
    },
  };
  return client;
}

const POD: Resource = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Undefined: the API knows no such object. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isFault(error, "NotFound")) return undefined;
    throw error;
  }
}

function patchOf(resource: Resource, patch: Patch): { body: unknown; query: Record<string, string> } {
  if (patch.type !== "apply") return { body: patch.body, query: {} };
  return {
    body: { ...patch.body, apiVersion: apiVersionOf(resource), kind: resource.kind },
    query: { fieldManager: patch.fieldManager, force: `${patch.force ?? false}` },
  };
}

function deleteOptions(options: DeleteOptions): object {
  const { uid, resourceVersion, gracePeriodSeconds, propagation } = options;
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
  };
}

interface ListBody<T> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[] | null;
}

/**
 * Follows `continue`. When the server forgot the snapshot between two pages (410), the whole list is asked for at once:
 * mixing snapshots would show a state that never was.
 */
async function listPages<T extends KubeObject>(
  resource: Resource<T>,
  options: ListOptions,
  page: (query: Record<string, string>) => Promise<ListBody<T>>,
): Promise<List<T>> {
  const { resourceVersion, limit = DEFAULT_PAGE } = options;
  const selection = selectors(options);
  const first = resourceVersion === undefined ? selection : { ...selection, resourceVersion };
  const items: T[] = [];
  let body = await page(limit > 0 ? { ...first, limit: `${limit}` } : first);
  for (;;) {
    for (const item of body.items ?? []) items.push(whole(resource, item));
    const next = body.metadata?.continue;
    if (next === undefined || next === "") return { items, resourceVersion: body.metadata?.resourceVersion ?? "" };
    try {
      body = await page({ ...selection, limit: `${limit}`, continue: next });
    } catch (error) {
      if (!isFault(error, "Gone")) throw error;
      items.length = 0;
      body = await page(selection);
    }
  }
}

function selectors({ labelSelector, fieldSelector }: ListOptions): Record<string, string> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

/** Items of a list come without apiVersion and kind from kube-apiserver's built-in kinds. */
function whole<T extends KubeObject>(resource: Resource<T>, item: T): T {
  return item.kind === undefined ? { ...item, apiVersion: apiVersionOf(resource), kind: resource.kind } : item;
}

function scope(of: { namespace?: string }): { namespace?: string } {
  return of.namespace === undefined ? {} : { namespace: of.namespace };
}

function requireNamespace(resource: Resource, ref: Ref): void {
  if (resource.namespaced && (ref.namespace ?? "") === "")
    throw new Fault("BadRequest", nameOf(resource, ref), "a namespaced object was named without its namespace");
}
