import { Fault } from "@slipway/base";
import { z } from "zod";

/** A structural OpenAPI v3 schema as a CustomResourceDefinition carries it. */
export interface StructuralSchema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  nullable?: boolean;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: StructuralSchema[];
  allOf?: StructuralSchema[];
  "x-kubernetes-preserve-unknown-fields"?: true;
  "x-kubernetes-int-or-string"?: true;
  "x-kubernetes-embedded-resource"?: true;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: { rule: string; message?: string; optionalOldSelf?: true }[];
}

type Emitted = Record<string, unknown>;

/** Formats that kube-apiserver checks: beside them a pattern says nothing new. */
const CHECKED_FORMATS = new Set([
  "date-time",
  "date",
  "duration",
  "ipv4",
  "ipv6",
  "uuid",
  "byte",
  "email",
  "uri",
  "int32",
  "int64",
  "float",
  "double",
]);
const COPIED = [
  "description",
  "type",
  "default",
  "enum",
  "nullable",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "exclusiveMinimum",
  "exclusiveMaximum",
] as const;
const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/**
 * The structural schema of a zod schema, read as input: a field with a default may be left out.
 *
 * Throws a `Fault` (`Bug`) that names the path (`spec.ports[].target`) where the schema can't be said structurally: unions
 * of shapes, intersections, recursion, transforms without an input type.
 */
export function structuralSchema(schema: z.ZodType, path: string): StructuralSchema {
  let emitted: Emitted;
  try {
    emitted = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", reused: "inline" }) as Emitted;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault("Bug", path, `no JSON schema can be made of it: ${detail}`, { cause: error });
  }
  return structural(emitted, path);
}

function structural(from: Emitted, path: string): StructuralSchema {
  const refuse = (what: string): never => {
    throw new Fault("Bug", path, `${what} is not structural`, {
      remedy: "say it as optional fields with an enum that chooses, and a CEL rule",
    });
  };
  if (from.$ref !== undefined || from.definitions !== undefined) return refuse("a recursive schema");
  if (from.oneOf !== undefined || from.not !== undefined) return refuse("a union of shapes");
  const to = copied(from);
  if (Array.isArray(from.anyOf)) alternatives(from.anyOf as Emitted[], to, refuse);
  if (Array.isArray(from.allOf)) patterns(from.allOf as Emitted[], to, refuse);
  numbers(from, to);
  text(from, to, path);
  if (to.type === "array") to.items = structural((from.items ?? {}) as Emitted, `${path}[]`);
  if (to.type === "object") fields(from, to, path);
  if (to.type === undefined && to["x-kubernetes-int-or-string"] === undefined)
    to["x-kubernetes-preserve-unknown-fields"] = true;
  return to as StructuralSchema;
}

function copied(from: Emitted): Emitted {
  const to: Emitted = {};
  for (const word of COPIED) if (from[word] !== undefined) to[word] = from[word];
  for (const [word, value] of Object.entries(from)) if (word.startsWith("x-kubernetes-")) to[word] = value;
  return to;
}

/** Integer or string, and sets of literals, are the unions that Kubernetes knows. */
function alternatives(parts: Emitted[], to: Emitted, refuse: (what: string) => never): void {
  const real = parts.filter((part) => !isNull(part));
  if (real.length < parts.length) to.nullable = true;
  const types = new Set(real.map((part) => part.type));
  if (
    types.size === 2 &&
    types.has("integer") &&
    types.has("string") &&
    real.every((part) => part.enum === undefined)
  ) {
    to["x-kubernetes-int-or-string"] = true;
    to.anyOf = [{ type: "integer" }, { type: "string" }];
    const pattern = real.find((part) => part.pattern !== undefined)?.pattern;
    if (pattern !== undefined) to.pattern = pattern;
  } else if (types.size === 1 && real.every((part) => Array.isArray(part.enum))) {
    to.type = real[0]?.type;
    to.enum = [...new Set(real.flatMap((part) => part.enum as unknown[]))];
  } else refuse("a union of shapes");
}

function isNull(part: Emitted): boolean {
  return Array.isArray(part.enum) && part.enum.length === 1 && part.enum[0] === null;
}

/** zod says several patterns of one text as allOf; an intersection of objects is another matter. */
function patterns(parts: Emitted[], to: Emitted, refuse: (what: string) => never): void {
  if (parts.some((part) => part.type !== "string" || part.pattern === undefined)) refuse("an intersection");
  to.allOf = parts.map(({ pattern }) => ({ pattern }));
}

function numbers(from: Emitted, to: Emitted): void {
  if (from.type !== "integer" && from.type !== "number") return;
  const { minimum, maximum } = from;
  if (minimum === INT32.minimum && maximum === INT32.maximum) {
    to.format = "int32";
    return;
  }
  // zod bounds integers by what a double holds exactly, which is no rule of the API.
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) to.minimum = minimum;
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) to.maximum = maximum;
}

function text(from: Emitted, to: Emitted, path: string): void {
  const isChecked = typeof from.format === "string" && CHECKED_FORMATS.has(from.format);
  if (isChecked) to.format = from.format;
  if (typeof from.pattern !== "string" || isChecked) return;
  if (/\(\?<?[=!]|\\[1-9]/.test(from.pattern))
    throw new Fault("Bug", path, `the pattern ${from.pattern} needs look-around or back-references, which RE2 has not`);
  to.pattern = from.pattern;
}

function fields(from: Emitted, to: Emitted, path: string): void {
  const properties = (from.properties ?? {}) as Record<string, Emitted>;
  const rest = from.additionalProperties;
  const names = Object.keys(properties);
  if (names.length > 0)
    to.properties = Object.fromEntries(
      names.map((name) => [name, structural(properties[name] ?? {}, `${path}.${name}`)]),
    );
  if (typeof rest === "object" && rest !== null) {
    const isAny = Object.keys(rest).length === 0;
    // An object that is open beside its fields keeps what it doesn't know; a map of anything has no fields.
    if (isAny || names.length > 0) to["x-kubernetes-preserve-unknown-fields"] = true;
    else to.additionalProperties = structural(rest as Emitted, `${path}{}`);
  }
  const required = ((from.required ?? []) as string[]).filter((name) => !isAnything(properties[name]));
  if (required.length > 0) to.required = required;
}

/** zod takes a missing field for `unknown`, whatever the schema it emits says. */
function isAnything(schema: Emitted | undefined): boolean {
  return schema !== undefined && Object.keys(schema).every((word) => word === "description");
}
