/** What the page knows: objects by kind, kept by the stream of changes. Nothing is stored in the browser. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { KubeObject } from "@slipway/kube";
import { FOLLOWED } from "../../views/followed-kinds.ts";

export type KindState = "begin" | "synced" | "denied" | "missing" | "waiting";

interface Followed {
  readonly objects: Map<string, KubeObject>;
  /** Counts changes: what is computed from the objects goes by it. */
  readonly version: ReturnType<typeof signal<number>>;
  readonly state: ReturnType<typeof signal<{ state: KindState; message?: string | undefined }>>;
  /** Uids of the state before, while it is replaced. */
  stale?: Set<string> | undefined;
}

/** Events are many, and only the last ones are looked at. */
const MOST_EVENTS = 3_000;

const kinds = new Map<string, Followed>(
  FOLLOWED.map(({ name }) => [
    name,
    { objects: new Map(), version: signal(0), state: signal({ state: "waiting" as KindState }) },
  ]),
);
/** The version before the last change that was seen, of each object. */
const earlier = new WeakMap<KubeObject, KubeObject>();
const lists = new Map<string, ReadonlySignal<readonly KubeObject[]>>();

/** Kinds of which nothing was said yet. */
const unheard = signal<ReadonlySet<string>>(new Set(kinds.keys()));

/** Whether of each kind its objects are here, or why they are not. Before that, an empty list says nothing. */
export const isLoaded = computed(() => unheard.value.size === 0);

/** The objects of a kind. */
export function objectsOf(kind: string): ReadonlySignal<readonly KubeObject[]> {
  let list = lists.get(kind);
  if (list === undefined) {
    list = computed(() => {
      const followed = kinds.get(kind);
      return followed === undefined || followed.version.value! < 0 ? [] : [...followed.objects.values()];
    });
    lists.set(kind, list);
  }
  return list;
}

/** How the watch of a kind stands. */
export const stateOfKind = (kind: string): { state: KindState; message?: string | undefined } =>
  kinds.get(kind)?.state.value ?? { state: "missing" };

/** An object by its kind, namespace and name. */
export function findObject(kind: string, namespace: string | undefined, name: string): KubeObject | undefined {
  return objectsOf(kind).value.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

/** The same object before its last change; undefined: no change was seen. */
export const before = (object: KubeObject): KubeObject | undefined => earlier.get(object);

export interface Change {
  type: "set" | "gone";
  object: KubeObject;
}

/** Takes up changes of a kind. */
export function apply(kind: string, changes: readonly Change[]): void {
  const followed = kinds.get(kind);
  if (followed === undefined) return;
  for (const { type, object } of changes) {
    const { uid } = object.metadata;
    if (type === "gone") followed.objects.delete(uid);
    else put(followed, uid, object);
    followed.stale?.delete(uid);
  }
  if (kind === "events") trim(followed.objects);
  followed.version.value = followed.version.peek()! + 1;
}

function put({ objects }: Followed, uid: string, object: KubeObject): void {
  const known = objects.get(uid);
  const isNews = known !== undefined && known.metadata.resourceVersion !== object.metadata.resourceVersion;
  const previous = isNews ? known : known && earlier.get(known);
  // One step back, no chain of them.
  if (known !== undefined) earlier.delete(known);
  if (previous !== undefined) earlier.set(object, previous);
  objects.set(uid, object);
}

function trim(objects: Map<string, KubeObject>): void {
  for (const uid of objects.keys()) {
    if (objects.size <= MOST_EVENTS) return;
    objects.delete(uid);
  }
}

/** Takes up how a kind's watch stands. `begin`: its whole state comes again. */
export function applyState(kind: string, state: KindState, message?: string): void {
  const followed = kinds.get(kind);
  if (followed === undefined) return;
  if (state === "begin") {
    followed.stale = new Set(followed.objects.keys());
    return;
  }
  if (state === "synced" && followed.stale !== undefined) {
    for (const uid of followed.stale) followed.objects.delete(uid);
    followed.stale = undefined;
    followed.version.value = followed.version.peek()! + 1;
  }
  if (state === "denied" || state === "missing") {
    followed.objects.clear();
    followed.version.value = followed.version.peek()! + 1;
  }
  followed.state.value = { state, message };
  if (state !== "waiting" && unheard.peek().has(kind))
    unheard.value = new Set([...unheard.peek()].filter((each) => each !== kind));
}

/** Forgets all of it: another user may sign in. */
export function forgetAll(): void {
  unheard.value = new Set(kinds.keys());
  for (const followed of kinds.values()) {
    followed.objects.clear();
    followed.state.value = { state: "waiting" };
    followed.version.value = followed.version.peek()! + 1;
  }
}
