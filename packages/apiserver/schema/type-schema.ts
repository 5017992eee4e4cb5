/** Schemas of built-in types, derived from the table of Go types; what it can't say stands in `data/`: defaults, descriptions, allowed values. */
import { ALLOWED_VALUES } from "../data/allowed-values.ts";
import { DEFAULTS } from "../data/defaults.ts";
import { DESCRIPTIONS } from "../data/descriptions.ts";
import type { Schema } from "../model/served.ts";
import type { Declared, Struct, WireType } from "../wire/go-type.ts";

/** What an object says of itself. */
export const TYPE_META: Readonly<Record<"apiVersion" | "kind", Schema>> = {
  apiVersion: {
    type: "string",
    description: "APIVersion defines the group and version of this representation.",
  },
  kind: { type: "string", description: "Kind of the object." },
};

/** Any JSON object, owned as a whole by who applies it. */
const ANY_OBJECT: Schema = {
  type: "object",
  "x-kubernetes-map-type": "atomic",
  "x-kubernetes-preserve-unknown-fields": true,
};

/** What has no end as a schema: a schema, a tree of fields. */
const SELF_CONTAINING: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const SCALARS: Readonly<Partial<Record<WireType["is"], Schema>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float64: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
  Quantity: { "x-kubernetes-int-or-string": true },
  IntOrString: { "x-kubernetes-int-or-string": true },
  Time: { type: "string", format: "date-time", nullable: true },
  MicroTime: { type: "string", format: "date-time", nullable: true },
};

/** What the data say of one type holds for another one too: Go has it twice. */
const SAME_WORDS: ReadonlyMap<string, string> = new Map([["core.EphemeralContainerCommon", "core.Container"]]);

const schemas = new Map<Struct, Schema>();

/** The schema of a struct's values; of the same struct the same one. Types that contain themselves are any object. */
export function schemaOf(struct: Struct): Schema {
  let found = schemas.get(struct);
  if (found === undefined) {
    found = derived(struct);
    schemas.set(struct, found);
  }
  return found;
}

function derived(struct: Struct): Schema {
  if (struct.fullName === "apiextensions.JSONSchemaProps") return SELF_CONTAINING;
  const members = membersOf(struct);
  const required = members.filter(({ field }) => field.isRequired).map(({ field }) => field.name);
  const description = DESCRIPTIONS[struct.fullName];
  return {
    type: "object",
    ...(description !== undefined && { description }),
    properties: {
      ...Object.fromEntries(members.map(({ field, schema }) => [field.name, schema])),
      ...(struct.isObject && TYPE_META),
    },
    ...(required.length > 0 && { required }),
    ...(struct.isAtomic && { "x-kubernetes-map-type": "atomic" }),
  };
}

interface Member {
  field: Declared;
  schema: Schema;
}

/** Those of embedded structs stand beside the others. */
function membersOf(struct: Struct): Member[] {
  return struct.declared.flatMap((field): Member[] => {
    if (field.isEmbedded) return field.type.is === "struct" ? membersOf(field.type) : [];
    const owner = SAME_WORDS.get(struct.fullName) ?? struct.fullName;
    return [{ field, schema: withWords(merging(valueSchema(field.type), field), `${owner}.${field.name}`) }];
  });
}

function valueSchema(type: WireType): Schema {
  switch (type.is) {
    case "pointer":
      return valueSchema(type.of);
    case "struct":
      return schemaOf(type);
    case "list":
      return { type: "array", items: valueSchema(type.of) };
    case "map":
      return { type: "object", additionalProperties: valueSchema(type.of) };
    case "Raw":
      return type.go === "FieldsV1" ? SELF_CONTAINING : ANY_OBJECT;
    default:
      return SCALARS[type.is] ?? ANY_OBJECT;
  }
}

function merging(schema: Schema, { merging: { as, keys, strategy, mergeKey } }: Declared): Schema {
  if (as === undefined && strategy === undefined) return schema;
  const merged: Schema = { ...schema };
  // Bytes are a list in Go only.
  if (as !== undefined && schema.type === "array") merged["x-kubernetes-list-type"] = as as "atomic" | "set" | "map";
  if (as !== undefined && schema.type === "object") merged["x-kubernetes-map-type"] = as as "atomic" | "granular";
  if (keys !== undefined) {
    merged["x-kubernetes-list-map-keys"] = keys;
    merged.items = withZeroKeys(schema.items!, keys);
  }
  if (strategy !== undefined) merged["x-kubernetes-patch-strategy"] = strategy;
  if (mergeKey !== undefined) merged["x-kubernetes-patch-merge-key"] = mergeKey;
  return merged;
}

/** A required key that an item leaves out is the zero of its type, as Go reads it: so the item has an identity, and is refused by name. */
function withZeroKeys(items: Schema, keys: readonly string[]): Schema {
  const zeros = keys.flatMap((key) => {
    const schema = items.properties?.[key];
    if (schema === undefined || schema.default !== undefined || !items.required?.includes(key)) return [];
    return [[key, { ...schema, default: schema.type === "integer" ? 0 : "" }]];
  });
  return { ...items, properties: { ...items.properties, ...Object.fromEntries(zeros) } };
}

function withWords(schema: Schema, name: string): Schema {
  const description = DESCRIPTIONS[name];
  const values = ALLOWED_VALUES[name];
  if (description === undefined && values === undefined && !Object.hasOwn(DEFAULTS, name)) return schema;
  return {
    ...schema,
    ...(description !== undefined && { description }),
    ...(values !== undefined &&
      (schema.items === undefined ? { enum: values } : { items: { ...schema.items, enum: values } })),
    ...(Object.hasOwn(DEFAULTS, name) && { default: DEFAULTS[name] }),
  };
}
