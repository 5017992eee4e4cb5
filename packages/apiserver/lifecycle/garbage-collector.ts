import { isFault } from "@slipway/base";
import type { OwnerReference } from "@slipway/kube";
import type { Core } from "../core/call.ts";
import { copyJson } from "../json/value.ts";
import type { Body, ServedResource } from "../model/served.ts";
import type { StoreEvent } from "../storage/collection.ts";
import { collectionOf, objectKey } from "../storage/keys.ts";
import { FOREGROUND, ORPHAN } from "../verbs/delete.ts";
import { rewrite } from "../verbs/update.ts";
import { deleteQuietly, ownCall, Work } from "./work.ts";

/**
 * Deletes what nobody owns any more (Kubernetes "Garbage collection"): dependents of a deleted owner, in the background or before
 * it (`foregroundDeletion`), or leaves them to themselves (`orphan`). References to owners that never were count as deleted ones.
 * An owner of a kind that is not served is never judged: its dependents stay.
 */
export function garbageCollector(core: Core): { close(): Promise<void> } {
  const graph = new Dependents();
  const work = new Work<string>(core, "garbage collector", (id) => judge(core, graph, id));
  const note = (collection: string, key: string, object: Body | undefined, before: Body | undefined): void => {
    const id = idOf(collection, key);
    graph.set(id, before, object);
    const changed = object ?? before;
    if (changed === undefined) return;
    if (object !== undefined && concerns(object)) work.add(id);
    // What an owner's end, or its wish to end, means for its dependents; what a dependent's end means for its owners.
    if (object === undefined || object.metadata.deletionTimestamp !== undefined)
      for (const dependent of graph.of(changed.metadata.uid)) work.add(dependent);
    if (object === undefined || object.metadata.ownerReferences !== before?.metadata.ownerReferences)
      for (const { uid } of before?.metadata.ownerReferences ?? []) {
        const owner = graph.where(uid);
        if (owner !== undefined) work.add(owner);
      }
  };
  const stop = core.store.listen("*", ({ collection, key, object, before, type }: StoreEvent) =>
    note(collection, key, type === "DELETED" ? undefined : object, before),
  );
  for (const collection of core.store.collections())
    for (const [key, object] of core.store.collection(collection).range("", ""))
      note(collection, key, object, undefined);
  return {
    close: () => {
      stop();
      return work.close();
    },
  };
}

function concerns(object: Body): boolean {
  return (object.metadata.ownerReferences ?? []).length > 0 || object.metadata.deletionTimestamp !== undefined;
}

/** Who depends on whom, by uid, and where each owner is. */
class Dependents {
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #places = new Map<string, string>();

  set(id: string, before: Body | undefined, object: Body | undefined): void {
    for (const { uid } of before?.metadata.ownerReferences ?? []) {
      const set = this.#byOwner.get(uid);
      set?.delete(id);
      if (set?.size === 0) this.#byOwner.delete(uid);
    }
    if (before !== undefined) this.#places.delete(before.metadata.uid);
    if (object === undefined) return;
    this.#places.set(object.metadata.uid, id);
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const set = this.#byOwner.get(uid) ?? new Set();
      this.#byOwner.set(uid, set.add(id));
    }
  }

  of(uid: string): string[] {
    return [...(this.#byOwner.get(uid) ?? [])];
  }

  where(uid: string): string | undefined {
    return this.#places.get(uid);
  }
}

function idOf(collection: string, key: string): string {
  return `${collection}\n${key}`;
}

function find(core: Core, id: string): { resource: ServedResource; object: Body } | undefined {
  const [collection = "", key = ""] = id.split("\n");
  const object = core.store.get(collection, key);
  const resource = core.registry.collections().get(collection);
  return object === undefined || resource === undefined ? undefined : { resource, object };
}

async function judge(core: Core, graph: Dependents, id: string): Promise<void> {
  const found = find(core, id);
  if (found === undefined) return;
  const { resource, object } = found;
  const { deletionTimestamp, finalizers = [], uid } = object.metadata;
  if (deletionTimestamp !== undefined) {
    if (finalizers.includes(ORPHAN)) await orphan(core, graph, resource, object);
    else if (finalizers.includes(FOREGROUND)) await foreground(core, graph, resource, object);
    return;
  }
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0) return;
  const states = owners.map((owner) => ({ owner, is: ownerState(core, object, owner) }));
  if (states.some((s) => s.is === "solid")) {
    const gone = new Set(states.filter((s) => s.is !== "solid").map((s) => s.owner.uid));
    if (gone.size > 0) await withoutOwners(core, resource, object, gone);
    return;
  }
  const dependents = graph.of(uid).flatMap((each) => find(core, each) ?? []);
  const waiting = states.some((s) => s.is === "waiting") && dependents.length > 0;
  // One that waits for its dependents, and is itself the dependent of one: in a circle each would wait for the next.
  if (waiting && dependents.some((each) => isWaiting(each.object))) await unblockOwners(core, resource, object);
  await deleteQuietly(core, resource, object, { propagation: waiting ? "Foreground" : undefined });
}

/** `waiting`: being deleted in the foreground, so its dependents are to go first. */
function ownerState(core: Core, dependent: Body, owner: OwnerReference): "solid" | "absent" | "waiting" {
  const resource = core.registry.findKind(owner.apiVersion, owner.kind);
  if (resource === undefined) return "solid";
  const namespace = resource.namespaced ? dependent.metadata.namespace : undefined;
  const found = core.store.get(collectionOf(resource), objectKey(namespace, owner.name));
  if (found === undefined || found.metadata.uid !== owner.uid) return "absent";
  return isWaiting(found) ? "waiting" : "solid";
}

function isWaiting({ metadata: { deletionTimestamp, finalizers = [] } }: Body): boolean {
  return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND);
}

/** Deletes the dependents; the owner goes when none is left that blocks it. */
async function foreground(core: Core, graph: Dependents, resource: ServedResource, object: Body): Promise<void> {
  const { uid } = object.metadata;
  let blocked = false;
  for (const id of graph.of(uid)) {
    const dependent = find(core, id);
    if (dependent === undefined) continue;
    const reference = dependent.object.metadata.ownerReferences?.find((o) => o.uid === uid);
    if (reference?.blockOwnerDeletion === true) blocked = true;
    if (dependent.object.metadata.deletionTimestamp === undefined) await judge(core, graph, id);
  }
  if (!blocked) await withoutFinalizer(core, resource, object, FOREGROUND);
}

async function orphan(core: Core, graph: Dependents, resource: ServedResource, object: Body): Promise<void> {
  const { uid } = object.metadata;
  for (const id of graph.of(uid)) {
    const dependent = find(core, id);
    if (dependent !== undefined) await withoutOwners(core, dependent.resource, dependent.object, new Set([uid]));
  }
  await withoutFinalizer(core, resource, object, ORPHAN);
}

function withoutOwners(core: Core, resource: ServedResource, object: Body, gone: ReadonlySet<string>): Promise<void> {
  return change(core, resource, object, (next) => {
    const left = (next.metadata.ownerReferences ?? []).filter((o) => !gone.has(o.uid));
    if (left.length > 0) next.metadata.ownerReferences = left;
    else delete next.metadata.ownerReferences;
  });
}

function unblockOwners(core: Core, resource: ServedResource, object: Body): Promise<void> {
  return change(core, resource, object, (next) => {
    for (const owner of next.metadata.ownerReferences ?? [])
      if (owner.blockOwnerDeletion === true) owner.blockOwnerDeletion = false;
  });
}

function withoutFinalizer(core: Core, resource: ServedResource, object: Body, finalizer: string): Promise<void> {
  return change(core, resource, object, (next) => {
    next.metadata.finalizers = (next.metadata.finalizers ?? []).filter((f) => f !== finalizer);
  });
}

async function change(core: Core, resource: ServedResource, object: Body, edit: (next: Body) => void): Promise<void> {
  const call = ownCall(core, resource, object.metadata);
  try {
    await rewrite(call, (live) => {
      const next = copyJson(live);
      if (next.metadata.uid === object.metadata.uid) edit(next);
      return next;
    });
  } catch (error) {
    if (!isFault(error, "NotFound")) throw error;
  }
}
