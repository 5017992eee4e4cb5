import { formatCheck, formatThatCounts, Pattern } from "@slipway/cel/formats";
import { canonicalJson } from "../json/canonical.ts";
import type { Schema } from "../model/served.ts";
import { wholeObject } from "./object-meta.ts";

/** A schema made ready for walking: lookups are maps, patterns are compiled once, and each node knows what its subtree needs. */
export interface Node {
  readonly schema: Schema;
  readonly properties: ReadonlyMap<string, Node>;
  /** Values of keys that `properties` does not name. `any`: kept unchecked; `none`: unknown. */
  readonly additional: Node | "any" | "none";
  readonly items: Node | undefined;
  readonly required: readonly string[];
  /** Whether a value is one of the schema's `enum`; undefined: there is none. */
  readonly allows: ((value: unknown) => boolean) | undefined;
  /** Made on first use, which throws `SyntaxError` where it is none; validated CRDs have none such. */
  readonly pattern: Pattern | undefined;
  readonly format: ((text: string) => boolean) | undefined;
  /** The types a value may have; none: any. */
  readonly types: readonly string[];
  /** The format, where it is one that counts for the type. */
  readonly formatName: string | undefined;
  /** Unknown fields stay. */
  readonly open: boolean;
  /** A whole Kubernetes object: apiVersion, kind and metadata belong to it even where not listed. */
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly nullable: boolean;
  readonly allOf: readonly Node[];
  readonly anyOf: readonly Node[];
  readonly oneOf: readonly Node[];
  readonly not: Node | undefined;
  /** In this node or below. */
  readonly hasDefaults: boolean;
  readonly hasRules: boolean;
  readonly hasListTypes: boolean;
  readonly hasEmbedded: boolean;
}

const NO_NODES: readonly Node[] = [];

/** Prepares a schema. */
export function nodeOf(given: Schema): Node {
  const schema = given["x-kubernetes-embedded-resource"] === true ? wholeObject(given) : given;
  const properties = new Map<string, Node>();
  for (const [name, child] of Object.entries(schema.properties ?? {})) properties.set(name, nodeOf(child));
  const items = schema.items === undefined ? undefined : nodeOf(schema.items);
  const additional = additionalOf(schema);
  const children = [...properties.values()];
  if (items) children.push(items);
  if (typeof additional === "object") children.push(additional);
  const intOrString = schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string";
  const formatName = formatThatCounts(schema.type, schema.format);
  let pattern: Pattern | undefined;
  return {
    schema,
    properties,
    additional,
    items,
    required: schema.required ?? [],
    allows: schema.enum === undefined ? undefined : oneOf(schema.enum),
    get pattern() {
      if (schema.pattern !== undefined) pattern ??= new Pattern(schema.pattern);
      return pattern;
    },
    format: formatCheck(formatName),
    types: intOrString ? ["integer", "string"] : schema.type === undefined ? [] : [schema.type],
    formatName,
    open: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedded: schema["x-kubernetes-embedded-resource"] === true,
    intOrString,
    nullable: schema.nullable === true,
    allOf: schema.allOf?.map(nodeOf) ?? NO_NODES,
    anyOf: schema.anyOf?.map(nodeOf) ?? NO_NODES,
    oneOf: schema.oneOf?.map(nodeOf) ?? NO_NODES,
    not: schema.not === undefined ? undefined : nodeOf(schema.not),
    hasDefaults: schema.default !== undefined || children.some((c) => c.hasDefaults),
    hasRules: (schema["x-kubernetes-validations"]?.length ?? 0) > 0 || children.some((c) => c.hasRules),
    hasListTypes: schema["x-kubernetes-list-type"] !== undefined || children.some((c) => c.hasListTypes),
    hasEmbedded: schema["x-kubernetes-embedded-resource"] === true || children.some((c) => c.hasEmbedded),
  };
}

function oneOf(allowed: readonly unknown[]): (value: unknown) => boolean {
  let texts: ReadonlySet<string> | undefined;
  return (value) => {
    texts ??= new Set(allowed.map(canonicalJson));
    return texts.has(canonicalJson(value));
  };
}

function additionalOf(schema: Schema): Node["additional"] {
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "object") return nodeOf(additionalProperties);
  return additionalProperties === true ? "any" : "none";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a field that may be named `__proto__`. */
export function put(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
  else record[key] = value;
}
