import { copyJson } from "../json/value.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import type { CompiledSchema } from "../schema/compile.ts";
import { conversionFault } from "./conversion.ts";
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
  const keep = keeper(compiled, resource);
  const finish = (made: readonly Body[]): Body[] =>
    made.map((object, i) => (object === read[i] ? object : keep(object)));
  const made = convertAll(resource, read);
  return made instanceof Promise ? made.then(finish) : finish(made);
}

/** An object of one version in the version of `to`, with whatever the converter put there. Never changes it. */
export function inVersion(to: ServedResource, object: Body): Body | Promise<Body> {
  const made = convertAll(to, [copyJson(object)]);
  return made instanceof Promise ? made.then(([one]) => one!) : made[0]!;
}

/** The same, with only what that version knows: how objects are stored and read back. */
export function pruned(compiled: Compiled, to: ServedResource, object: Body): Body | Promise<Body> {
  const keep = keeper(compiled, to);
  const made = inVersion(to, object);
  return made instanceof Promise ? made.then(keep) : keep(made);
}

function keeper(compiled: Compiled, to: ServedResource): (object: Body) => Body {
  const schema = compiled(to);
  return (object) => {
    const { metadata } = object;
    schema.prune(object);
    return { ...object, metadata };
  };
}

function readBack(compiled: Compiled, resource: ServedResource, stored: Body): Body {
  const { metadata, ...rest } = stored;
  const object = { ...copyJson(rest), metadata } as Body;
  const schema = compiled(resource.versions?.get(stored.apiVersion) ?? resource);
  schema.prune(object);
  schema.applyDefaults(object);
  return { ...object, metadata };
}

function convertAll(to: ServedResource, objects: readonly Body[]): Body[] | Promise<Body[]> {
  const apiVersion = apiVersionOf(to);
  const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
  if (foreign.length === 0) return [...objects];
  if (to.conversion === undefined)
    return objects.map((object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion }));
  const finish = (converted: readonly unknown[]): Body[] => {
    const next = converted.values();
    return objects.map((object) => {
      if (object.apiVersion === apiVersion) return object;
      const made = accepted(object, next.next().value, apiVersion);
      if (typeof made === "string") throw conversionFault(made);
      return made;
    });
  };
  const given = foreign.map((object) => structuredClone(object));
  const converted = to.conversion(given, apiVersion);
  return converted instanceof Promise ? converted.then(finish) : finish(converted);
}
