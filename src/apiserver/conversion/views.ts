import { apiVersionOf } from "../registry.ts";
import type { CompiledSchema } from "../schema/compile.ts";
import type { Body, ServedResource } from "../served.ts";
import { conversionFault, gvk } from "./conversion.ts";
import { accepted } from "./converted.ts";

type Compiled = (resource: ServedResource) => CompiledSchema;

/**
 * Stored objects of a custom resource as `resource` shows them: pruned and defaulted by the version they were stored in, then converted. A
 * promise only where the kind's converter is elsewhere.
 */
export function viewsOf(
  compiled: Compiled,
  resource: ServedResource,
  stored: readonly Body[],
): Body[] | Promise<Body[]> {
  const read = stored.map((object) => readBack(compiled, resource, object));
  return convertAll(compiled, resource, read);
}

/** An object of one version as `to` shows it. Never changes it. */
export function inVersion(compiled: Compiled, to: ServedResource, object: Body): Body | Promise<Body> {
  const views = convertAll(compiled, to, [{ ...structuredClone(object) }]);
  return views instanceof Promise ? views.then(([view]) => view!) : views[0]!;
}

function readBack(compiled: Compiled, resource: ServedResource, stored: Body): Body {
  const { metadata, ...rest } = stored;
  const object = { ...structuredClone(rest), metadata } as Body;
  const schema = compiled(resource.versions?.get(stored.apiVersion) ?? resource);
  schema.prune(object);
  schema.applyDefaults(object);
  return { ...object, metadata };
}

function convertAll(compiled: Compiled, to: ServedResource, objects: readonly Body[]): Body[] | Promise<Body[]> {
  const apiVersion = apiVersionOf(to);
  const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
  if (foreign.length === 0) return [...objects];
  const schema = compiled(to);
  const pruned = (object: Body): Body => {
    const { metadata } = object;
    schema.prune(object);
    return { ...object, metadata };
  };
  if (to.conversion === undefined)
    return objects.map((object) => (object.apiVersion === apiVersion ? object : pruned({ ...object, apiVersion })));
  const finish = (converted: readonly unknown[]): Body[] => {
    if (converted.length !== foreign.length)
      throw conversionFault(
        `conversion webhook for ${gvk(foreign[0]!)} returned ${converted.length} objects, expected ${foreign.length}`,
      );
    const next = converted.values();
    return objects.map((object) => {
      if (object.apiVersion === apiVersion) return object;
      const made = accepted(object, next.next().value, apiVersion, "");
      if (typeof made === "string") throw conversionFault(made);
      return pruned(made);
    });
  };
  const given = foreign.map((object) => structuredClone(object));
  const converted = to.conversion(given, apiVersion);
  return converted instanceof Promise ? converted.then(finish) : finish(converted);
}
