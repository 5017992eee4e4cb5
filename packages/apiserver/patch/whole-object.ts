import { type JsonObject, shallowCopy } from "../json/members.ts";
import type { Body, Schema } from "../model/served.ts";
import { wholeObject } from "../schema/object-meta.ts";

/** The object without its managedFields; a create starts from nothing. */
export function bare(object: Body | undefined): Record<string, unknown> {
  if (object === undefined) return {};
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  const copy = shallowCopy(object as unknown as JsonObject);
  copy.metadata = metadata;
  return copy;
}

const whole = new WeakMap<Schema, Schema>();

/** The schema with apiVersion, kind and metadata in it. */
export function objectSchema(schema: Schema): Schema {
  let known = whole.get(schema);
  if (known === undefined) {
    known = wholeObject(schema);
    whole.set(schema, known);
  }
  return known;
}
