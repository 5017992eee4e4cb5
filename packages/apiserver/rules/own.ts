import type { Passes } from "../json/turns.ts";
import type { Body, FieldError, ServedResource } from "../model/served.ts";

/** What a resource's own rules, those beyond its schema, find wrong with an object. `old` is set for updates. */
export function* ownErrors(resource: ServedResource, object: Body, old?: Body): Passes<FieldError[]> {
  const found = resource.validate?.(object, old) ?? [];
  return Array.isArray(found) ? found : yield* found;
}
