import { Fault } from "@slipway/base";
import { viewsOf } from "../conversion/views.ts";
import { apiVersionOf, type Body, type ServedResource, servedKey } from "../model/served.ts";
import { type CompiledSchema, compile } from "../schema/compile.ts";
import { compileWire, typeOfResource } from "../schema/compile-wire.ts";
import { collectionOf } from "../storage/keys.ts";

/** What is served right now: the built-in resources and those that CustomResourceDefinitions declare. */
export class Registry {
  readonly #served = new Map<string, ServedResource>();
  readonly #compiled = new WeakMap<ServedResource, CompiledSchema>();
  readonly #views = new WeakMap<ServedResource, WeakMap<Body, Body>>();
  readonly #listeners = new Set<() => void>();
  /** Undefined since the last change. */
  #collections: ReadonlyMap<string, ServedResource> | undefined;
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

  /** False once the definition behind the resource has changed: another resource stands in its place, or none. */
  isServed(resource: ServedResource): boolean {
    return this.#served.get(keyOf(resource)) === resource;
  }

  findKind(apiVersion: string, kind: string): ServedResource | undefined {
    return this.all().find((r) => r.kind === kind && apiVersionOf(r) === apiVersion);
  }

  /** Whether the group is one of Kubernetes' own that are served here. */
  hasBuiltIn(group: string): boolean {
    return this.all().some((r) => r.builtIn && r.group === group);
  }

  /** One resource per collection: the storage version where it is served, else any. */
  collections(): ReadonlyMap<string, ServedResource> {
    this.#collections ??= this.#byCollection();
    return this.#collections;
  }

  #byCollection(): Map<string, ServedResource> {
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
    this.#collections = undefined;
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  compiled(resource: ServedResource): CompiledSchema {
    let found = this.#compiled.get(resource);
    if (found === undefined) {
      const type = typeOfResource(resource);
      found =
        type === undefined
          ? compile(resource.schema, resource.builtIn ? undefined : resource.scale)
          : compileWire(resource, type);
      this.#compiled.set(resource, found);
    }
    return found;
  }

  /**
   * A stored object as `resource` shows it: its version, and for custom resources pruned and with the defaults that the schema has now.
   * The same stored object gives the same view, so views can be compared and cached by identity. Where a converter is elsewhere, `ready`
   * has to be awaited first.
   */
  view(resource: ServedResource, stored: Body): Body {
    const apiVersion = apiVersionOf(resource);
    if (resource.builtIn) {
      if (resource.fromStorage === undefined)
        return stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion };
    }
    const views = this.#viewsOf(resource);
    let view = views.get(stored);
    if (view === undefined) {
      view = resource.fromStorage?.(stored) ?? converted(viewsOf((r) => this.compiled(r), resource, [stored]));
      views.set(stored, view);
    }
    return view;
  }

  /**
   * Makes the views of stored objects; undefined when that needs no waiting. Rejects with the answer's `Fault` when the kind's converter
   * fails.
   */
  ready(resource: ServedResource, stored: readonly (Body | undefined)[]): Promise<void> | undefined {
    if (resource.conversion === undefined) return undefined;
    const views = this.#viewsOf(resource);
    const missing = stored.filter((object) => object !== undefined && !views.has(object)) as Body[];
    if (missing.length === 0) return undefined;
    const keep = (made: readonly Body[]): void => {
      for (const [i, object] of missing.entries()) views.set(object, made[i]!);
    };
    const made = viewsOf((r) => this.compiled(r), resource, missing);
    if (made instanceof Promise) return made.then(keep);
    keep(made);
    return undefined;
  }

  /** An object that was just written through `resource` needs no conversion when read back through it. */
  remember(resource: ServedResource, stored: Body): void {
    if (!resource.builtIn && stored.apiVersion === apiVersionOf(resource)) this.#viewsOf(resource).set(stored, stored);
  }

  #viewsOf(resource: ServedResource): WeakMap<Body, Body> {
    let views = this.#views.get(resource);
    if (views === undefined) {
      views = new WeakMap();
      this.#views.set(resource, views);
    }
    return views;
  }
}

function converted(views: readonly Body[] | Promise<Body[]>): Body {
  if (views instanceof Promise) throw new Fault("Bug", "registry", "a view was read before its conversion was awaited");
  return views[0]!;
}

function keyOf(resource: ServedResource): string {
  return servedKey(resource.group, resource.version, resource.plural);
}
