/**
 * The words in which the built-in kinds' schemas are written. Merge keys and list types are those of the Kubernetes API.
 */
import type { Schema } from "../served.ts";

export const text: Schema = { type: "string" };
export const bool: Schema = { type: "boolean" };
export const int32: Schema = { type: "integer", format: "int32" };
export const int64: Schema = { type: "integer", format: "int64" };
export const intOrString: Schema = { "x-kubernetes-int-or-string": true };
/** A resource quantity: `500m`, `2Gi`, `3`. */
export const quantity: Schema = { "x-kubernetes-int-or-string": true };
/** `metav1.Time`: RFC 3339 in whole seconds. */
export const time: Schema = { type: "string", format: "date-time", nullable: true };
/** `metav1.MicroTime`: RFC 3339 in microseconds. */
export const microTime: Schema = { type: "string", format: "date-time", nullable: true };
export const bytes: Schema = { type: "string", format: "byte" };
/** Whatever the writer puts there. */
export const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
export const anyObject: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** An object with these members; a name that ends in `!` is required. */
export function fields(members: Readonly<Record<string, Schema>>): Schema {
  const required = Object.keys(members).filter((name) => name.endsWith("!"));
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name.endsWith("!") ? name.slice(0, -1) : name, schema]),
  );
  const schema: Schema = { type: "object", properties };
  return required.length === 0 ? schema : { ...schema, required: required.map((name) => name.slice(0, -1)) };
}

/** An object that apply owns as a whole. */
export function atomic(members: Readonly<Record<string, Schema>>): Schema {
  return { ...fields(members), "x-kubernetes-map-type": "atomic" };
}

export function mapOf(values: Schema): Schema {
  return { type: "object", additionalProperties: values };
}

export const textMap = mapOf(text);
export const quantities = mapOf(quantity);

/** A list that is replaced as a whole. */
export function listOf(items: Schema): Schema {
  return { type: "array", items, "x-kubernetes-list-type": "atomic" };
}

export const texts = listOf(text);

/** A list of objects told apart by `keys` for apply; strategic merge patches replace it. */
export function keyedForApply(items: Schema, ...keys: [string, ...string[]]): Schema {
  return {
    type: "array",
    items: withZeroKeys(items, keys),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
  };
}

/** A required key that an item leaves out is the zero of its type, as Go reads it: so the item can be told apart, to be refused. */
function withZeroKeys(items: Schema, keys: readonly string[]): Schema {
  const zeros = keys.flatMap((key) => {
    const schema = items.properties?.[key];
    if (schema === undefined || schema.default !== undefined || !items.required?.includes(key)) return [];
    return [[key, withDefault(schema, schema.type === "integer" ? 0 : "")]];
  });
  return { ...items, properties: { ...items.properties, ...Object.fromEntries(zeros) } };
}

/** A list of distinct values that merges. */
export function setOf(items: Schema): Schema {
  return { type: "array", items, "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" };
}

/** A list of objects told apart by `keys`; strategic merge patches go by the first of them. */
export function keyed(items: Schema, ...keys: [string, ...string[]]): Schema {
  return {
    ...keyedForApply(items, ...keys),
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": keys[0],
  };
}

/** Members that the patch's `$retainKeys` does not name go: for unions, where only one member may be set. */
export function retainingKeys(schema: Schema): Schema {
  const merges = schema["x-kubernetes-patch-strategy"] === "merge";
  return { ...schema, "x-kubernetes-patch-strategy": merges ? "merge,retainKeys" : "retainKeys" };
}

export function oneOf(...values: [string, ...string[]]): Schema {
  return { type: "string", enum: values };
}

export function withDefault(schema: Schema, value: unknown): Schema {
  return { ...schema, default: value };
}

export function about(description: string, schema: Schema): Schema {
  return { ...schema, description };
}

/** `metav1.LabelSelector`. */
export const labelSelector: Schema = about(
  "Selects objects by their labels; empty selects all.",
  atomic({
    matchLabels: textMap,
    matchExpressions: listOf(fields({ "key!": text, "operator!": text, values: texts })),
  }),
);

/** `metav1.Condition` and the older conditions like it. */
export function conditions(more: Readonly<Record<string, Schema>> = {}): Schema {
  const condition = fields({
    "type!": text,
    "status!": text,
    reason: text,
    message: text,
    lastTransitionTime: time,
    ...more,
  });
  return about("What is known of the object, one entry per type.", keyed(condition, "type"));
}

/** `v1.ObjectReference`. */
export const objectReference: Schema = atomic({
  apiVersion: text,
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  resourceVersion: text,
  fieldPath: text,
});

/** `v1.LocalObjectReference`. */
export const localReference: Schema = atomic({ name: withDefault(text, "") });
