import { type CompiledSchema, compile } from "./schema/compile.ts";
import { type Body, type ServedResource, servedKey } from "./served.ts";

/** What is served right now: the built-in resources and those that CustomResourceDefinitions declare. */
export class Registry {
  readonly #served = new Map<string, ServedResource>();
  readonly #compiled = new WeakMap<ServedResource, CompiledSchema>();
  readonly #views = new WeakMap<ServedResource, WeakMap<Body, Body>>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  constructor(resources: readonly ServedResource[]) {
    for (const resource of resources) this.#served.set(keyOf(resource), resource);
  }

  /** Rises with every change: what was derived from an older generation is stale. */
  get generation(): number {
    return this.#generation;
  }

  all(): ServedResource[] {
    return [...this.#served.values()];
  }

  find(group: string, version: string, plural: string): ServedResource | undefined {
    return this.#served.get(servedKey(group, version, plural));
  }

  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.all().find((r) => r.kind === kind && apiVersionOf(r) === apiVersion);
  }

  /** Whether the group is one of Kubernetes' own that are served here. */
  hasBuiltIn(group: string): boolean {
    return this.all().some((r) => r.builtIn && r.group === group);
  }

  /** One resource per collection: the storage version where it is served, else any. */
  collections(): Map<string, ServedResource> {
    const out = new Map<string, ServedResource>();
    for (const resource of this.#served.values()) {
      const name = collectionOf(resource);
      if (!out.has(name) || (resource.storageVersion === apiVersionOf(resource) && resource.storageKey === undefined))
        out.set(name, resource);
    }
    return out;
  }

  /** Replaces what a definition declares: `before` goes, `after` comes. */
  replace(before: readonly ServedResource[], after: readonly ServedResource[]): void {
    for (const resource of before)
      if (this.#served.get(keyOf(resource)) === resource) this.#served.delete(keyOf(resource));
    for (const resource of after) this.#served.set(keyOf(resource), resource);
    this.#generation++;
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  compiled(resource: ServedResource): CompiledSchema {
    let found = this.#compiled.get(resource);
    if (found === undefined) {
      found = compile(resource.schema);
      this.#compiled.set(resource, found);
    }
    return found;
  }

  /**
   * A stored object as `resource` shows it: its version, and for custom resources pruned and with the defaults that the schema has now.
   * The same stored object gives the same view, so views can be compared and cached by identity.
   */
  view(resource: ServedResource, stored: Body): Body {
    const apiVersion = apiVersionOf(resource);
    if (resource.builtIn && resource.fromStorage === undefined && stored.apiVersion === apiVersion) return stored;
    let views = this.#views.get(resource);
    if (views === undefined) {
      views = new WeakMap();
      this.#views.set(resource, views);
    }
    let view = views.get(stored);
    if (view === undefined) {
      view = this.#convert(resource, stored, apiVersion);
      views.set(stored, view);
    }
    return view;
  }

  /** An object that was just written through `resource` needs no conversion when read back through it. */
  remember(resource: ServedResource, stored: Body): void {
    if (resource.builtIn || stored.apiVersion !== apiVersionOf(resource)) return;
    const views = this.#views.get(resource) ?? new WeakMap<Body, Body>();
    views.set(stored, stored);
    this.#views.set(resource, views);
  }

  #convert(resource: ServedResource, stored: Body, apiVersion: string): Body {
    if (resource.fromStorage !== undefined) return resource.fromStorage(stored);
    if (resource.builtIn) return { ...stored, apiVersion };
    const { metadata, ...rest } = stored;
    const view = { ...structuredClone(rest), apiVersion, metadata } as Body;
    const schema = this.compiled(resource);
    schema.prune(view);
    schema.applyDefaults(view);
    return { ...view, metadata };
  }
}

/** The collection that a resource's objects are kept in. */
export function collectionOf(resource: ServedResource): string {
  return resource.storageKey ?? `${resource.group}/${resource.plural}`;
}

export function apiVersionOf(resource: { group: string; version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** Key of an object in its collection. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

function keyOf(resource: ServedResource): string {
  return servedKey(resource.group, resource.version, resource.plural);
}
