import { Fault } from "@slipway/base";
import type { Cache } from "./cache.ts";
import { apiVersionOf, type KubeObject, keyOf, nameOf, type Ref, type Resource } from "./object.ts";
import type { Selection } from "./reflector.ts";
import { isNewer } from "./resource-version.ts";
import { type IndexFunction, Store } from "./store.ts";

/** A store and the selection it holds. */
export interface Watched {
  selection: Selection;
  store: Store;
  /** Some source works without it: while its kind is missing it reads as empty. */
  optional: boolean;
}

/**
 * The cache over a manager's stores: one store per selection, however many sources ask for it. Reading a resource before its first
 * list is `Unavailable`, so that "not there" is never mistaken for "not looked yet". Only a kind that is optional and missing reads as
 * empty.
 */
export class StoreCache implements Cache {
  readonly #byResource = new Map<string, Map<string, Watched>>();

  /** The store of a selection, made on first use. Throws `Bug` when one index name stands for two functions. */
  watched(
    selection: Selection,
    indexes: Readonly<Record<string, IndexFunction<KubeObject>>> = {},
    optional = false,
  ): Watched {
    const { resource } = selection;
    const stores = this.#byResource.get(resourceKey(resource)) ?? new Map<string, Watched>();
    this.#byResource.set(resourceKey(resource), stores);
    const { namespace = "", labelSelector = "", fieldSelector = "" } = selection;
    const key = JSON.stringify([namespace, labelSelector, fieldSelector]);
    const watched = stores.get(key) ?? { selection, store: new Store(), optional };
    watched.optional ||= optional;
    stores.set(key, watched);
    for (const [name, values] of Object.entries(indexes))
      if (!watched.store.addIndex(name, values))
        throw new Fault("Bug", `index ${name} of ${resource.plural}`, "two sources declare it by different functions", {
          remedy: "share one function, or give one of them another name",
        });
    return watched;
  }

  all(): Watched[] {
    return [...this.#byResource.values()].flatMap((stores) => [...stores.values()]);
  }

  get<T extends KubeObject>(resource: Resource<T>, ref: Ref): T | undefined {
    const key = keyOf(ref);
    let newest: T | undefined;
    for (const store of this.#stores(resource, ref.namespace)) {
      const object = store.get(key);
      if (object !== undefined && (newest === undefined || supersedes(object, newest))) newest = object;
    }
    return newest;
  }

  list<T extends KubeObject>(resource: Resource<T>, namespace?: string): readonly T[] {
    const objects = merge(this.#stores(resource, namespace).map((store) => store.values()));
    return namespace === undefined ? objects : objects.filter((o) => o.metadata.namespace === namespace);
  }

  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly T[] {
    const stores = this.#stores(resource, undefined).filter((store) => store.hasIndex(index));
    if (stores.length === 0)
      throw new Fault("Undeclared", `index ${index} of ${resource.plural}`, "no source declares it");
    return merge(stores.map((store) => store.byIndex(index, value)));
  }

  #stores<T extends KubeObject>(resource: Resource<T>, namespace: string | undefined): Store<T>[] {
    const all = this.#byResource.get(resourceKey(resource as Resource))?.values() ?? [];
    const covering = [...all].filter(
      ({ selection }) =>
        selection.namespace === undefined || namespace === undefined || selection.namespace === namespace,
    );
    if (covering.length === 0)
      throw new Fault(
        "Undeclared",
        nameOf(resource, { name: "*", namespace: namespace ?? "" }),
        "no source watches it",
      );
    for (const { store, optional } of covering) {
      if (store.synced || (optional && store.missing)) continue;
      const why = store.missing ? "the API does not serve it" : "it has not been listed yet";
      throw new Fault("Unavailable", `cache of ${resource.plural}`, why, { retryAfterMs: 500 });
    }
    return covering.map(({ store }) => store as unknown as Store<T>);
  }
}

function resourceKey(resource: Resource): string {
  return `${apiVersionOf(resource)}/${resource.plural}${resource.metadataOnly === true ? " metadata" : ""}`;
}

/** Selections may overlap; the newest state of an object counts. */
function merge<T extends KubeObject>(parts: readonly Iterable<T>[]): T[] {
  if (parts.length === 1) return [...parts[0]!];
  const byKey = new Map<string, T>();
  for (const part of parts)
    for (const object of part) {
      const key = keyOf(object.metadata);
      const known = byKey.get(key);
      if (known === undefined || supersedes(object, known)) byKey.set(key, object);
    }
  return [...byKey.values()];
}

function supersedes(a: KubeObject, b: KubeObject): boolean {
  return isNewer(a.metadata.resourceVersion, b.metadata.resourceVersion);
}
