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
  /** `allOf`, `anyOf`, `oneOf` or `not` says something. */
  readonly isCombined: boolean;
  /** What it takes to make all of it ready, and all below it, in steps of a walk: nodes, and the letters of patterns and rules. */
  readonly size: number;
  /** In this node or below. */
  readonly hasDefaults: boolean;
  readonly hasRules: boolean;
  readonly hasListTypes: boolean;
  readonly hasEmbedded: boolean;
}

const NO_NODES: readonly Node[] = [];
const NO_PROPERTIES: ReadonlyMap<string, Node> = new Map();
const NO_NAMES: readonly string[] = [];

/** Prepares a schema. */
export function nodeOf(given: Schema): Node {
  return new SchemaNode(given["x-kubernetes-embedded-resource"] === true ? wholeObject(given) : given);
}

/** A definition may have tens of thousands of these: what many do not have is shared, and what few ask for is made when it is. */
class SchemaNode implements Node {
  readonly schema: Schema;
  readonly properties: ReadonlyMap<string, Node>;
  readonly additional: Node["additional"];
  readonly items: Node | undefined;
  readonly required: readonly string[];
  readonly types: readonly string[];
  readonly format: Node["format"];
  readonly formatName: string | undefined;
  readonly open: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly nullable: boolean;
  readonly allOf: readonly Node[];
  readonly anyOf: readonly Node[];
  readonly oneOf: readonly Node[];
  readonly not: Node | undefined;
  readonly isCombined: boolean;
  size: number;
  hasDefaults: boolean;
  hasRules: boolean;
  hasListTypes: boolean;
  hasEmbedded: boolean;
  #pattern: Pattern | undefined;
  #allows: Node["allows"];

  constructor(schema: Schema) {
    const { properties, items, type } = schema;
    this.schema = schema;
    this.size = 1 + lettersOf(schema);
    this.embedded = schema["x-kubernetes-embedded-resource"] === true;
    this.hasDefaults = schema.default !== undefined;
    this.hasRules = (schema["x-kubernetes-validations"]?.length ?? 0) > 0;
    this.hasListTypes = schema["x-kubernetes-list-type"] !== undefined;
    this.hasEmbedded = this.embedded;
    this.properties = properties ? this.#below(properties) : NO_PROPERTIES;
    this.items = items === undefined ? undefined : this.#with(nodeOf(items));
    this.additional = additionalOf(schema);
    if (typeof this.additional === "object") this.#with(this.additional);
    this.required = schema.required ?? NO_NAMES;
    this.intOrString = schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string";
    this.types = this.intOrString ? INT_OR_STRING : type === undefined ? NO_NAMES : [type];
    this.formatName = formatThatCounts(type, schema.format);
    this.format = formatCheck(this.formatName);
    this.open = schema["x-kubernetes-preserve-unknown-fields"] === true;
    this.nullable = schema.nullable === true;
    this.allOf = this.#parts(schema.allOf);
    this.anyOf = this.#parts(schema.anyOf);
    this.oneOf = this.#parts(schema.oneOf);
    this.not = schema.not === undefined ? undefined : this.#parts([schema.not])[0];
    this.isCombined = this.not !== undefined || this.allOf.length + this.anyOf.length + this.oneOf.length > 0;
  }

  get pattern(): Pattern | undefined {
    const { pattern } = this.schema;
    if (pattern !== undefined) this.#pattern ??= new Pattern(pattern);
    return this.#pattern;
  }

  get allows(): Node["allows"] {
    if (this.schema.enum !== undefined) this.#allows ??= oneOf(this.schema.enum);
    return this.#allows;
  }

  #below(properties: Readonly<Record<string, Schema>>): ReadonlyMap<string, Node> {
    const nodes = new Map<string, Node>();
    for (const name of Object.keys(properties)) nodes.set(name, this.#with(nodeOf(properties[name]!)));
    return nodes;
  }

  #parts(schemas: readonly Schema[] | undefined): readonly Node[] {
    if (schemas === undefined) return NO_NODES;
    const nodes = schemas.map(nodeOf);
    for (const { size } of nodes) this.size += size;
    return nodes;
  }

  /** What a child has, its parent has. */
  #with(child: Node): Node {
    this.size += child.size;
    this.hasDefaults ||= child.hasDefaults;
    this.hasRules ||= child.hasRules;
    this.hasListTypes ||= child.hasListTypes;
    this.hasEmbedded ||= child.hasEmbedded;
    return child;
  }
}

function lettersOf({ pattern = "", "x-kubernetes-validations": rules = [] }: Schema): number {
  return rules.reduce(
    (sum, { rule = "", messageExpression = "" }) => sum + rule.length + messageExpression.length,
    pattern.length,
  );
}

const INT_OR_STRING: readonly string[] = ["integer", "string"];

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
