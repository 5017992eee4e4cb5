import { Fault } from "@slipway/base";
import { z } from "zod";
import type { $ZodArrayDef, $ZodChecks, $ZodNumber, $ZodString, $ZodType, $ZodTypes } from "zod/v4/core";

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

/** Formats that kube-apiserver checks: beside them a pattern says nothing new. */
const CHECKED_FORMATS = new Set(["date-time", "date", "duration", "ipv4", "ipv6", "uuid", "byte", "email", "uri"]);
const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

/** What zod says of a text or a number. */
interface Leaf {
  type: "string" | "integer" | "number";
  format?: string;
  pattern?: string;
  allOf?: { pattern: string }[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
}

/**
 * The structural schema of a zod schema, read as input: a field with a default may be left out.
 *
 * Throws a `Fault` (`Bug`) that names the path (`spec.ports[].target`) where the schema can't be said structurally: unions
 * of shapes, intersections, recursion, types that JSON has not.
 */
export function structuralSchema(schema: $ZodType, path: string): StructuralSchema {
  const { description, ...words } = z.globalRegistry.get(schema) ?? {};
  const said = Object.entries(words).filter(
    ([word, value]) => word.startsWith("x-kubernetes-") || (word === "format" && CHECKED_FORMATS.has(value as string)),
  );
  const { description: inner, ...rest } = withoutWords(schema as $ZodTypes, path);
  return {
    ...((description ?? inner) !== undefined && { description: description ?? inner }),
    ...rest,
    ...Object.fromEntries(said),
  };
}

function withoutWords(schema: $ZodTypes, path: string): StructuralSchema {
  const { def } = schema._zod;
  switch (def.type) {
    case "optional":
    case "readonly":
      return structuralSchema(def.innerType, path);
    case "pipe":
      return structuralSchema(def.in, path);
    case "nullable":
      return { ...structuralSchema(def.innerType, path), nullable: true };
    case "default":
    case "prefault":
      return { ...structuralSchema(def.innerType, path), default: structuredClone(def.defaultValue) };
    case "boolean":
      return { type: "boolean" };
    case "string":
      return text(leaf(schema as $ZodString), path);
    case "number":
      return number(leaf(schema as $ZodNumber));
    case "enum":
      return literals(Object.values(def.entries), path);
    case "literal":
      return literals(def.values, path);
    case "array": {
      const items = structuralSchema(def.element, `${path}[]`);
      return { type: "array", ...lengths(def), items };
    }
    case "record": {
      const values = structuralSchema(def.valueType, `${path}{}`);
      return { type: "object", ...(isAnything(def.valueType) ? OPEN : { additionalProperties: values }) };
    }
    case "object":
      return fields(def.shape, def.catchall, path);
    case "union":
      return alternatives(def.options as readonly $ZodTypes[], path);
    case "unknown":
    case "any":
      return OPEN;
    default:
      return refuse(path, NAMES[def.type] ?? `a schema of type ${def.type}`);
  }
}

const OPEN = { "x-kubernetes-preserve-unknown-fields": true } as const;
const NAMES: Readonly<Record<string, string>> = { lazy: "a recursive schema", intersection: "an intersection" };

function refuse(path: string, what: string): never {
  throw new Fault("Bug", path, `${what} is not structural`, {
    remedy: "say it as optional fields with an enum that chooses, and a CEL rule",
  });
}

/** What zod's own writer says of texts and numbers that several fields share. */
const leaves = new WeakMap<$ZodType, Leaf>();

/** Only texts and numbers with checks go through zod's own writer: it takes several times as long as all that is done here. */
function leaf(schema: $ZodString | $ZodNumber): Leaf {
  const { def } = schema._zod;
  if ((def.checks ?? []).length === 0 && !("format" in def)) return { type: def.type };
  const said =
    leaves.get(schema) ?? (z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" }) as unknown as Leaf);
  leaves.set(schema, said);
  return said;
}

function lengths({ checks = [] }: $ZodArrayDef): Pick<StructuralSchema, "minItems" | "maxItems"> {
  const to: Pick<StructuralSchema, "minItems" | "maxItems"> = {};
  for (const check of checks as unknown as readonly $ZodChecks[]) {
    const { def } = check._zod;
    if (def.check === "min_length") to.minItems = Math.max(def.minimum, to.minItems ?? 0);
    if (def.check === "max_length") to.maxItems = Math.min(def.maximum, to.maxItems ?? Infinity);
  }
  return to;
}

function text({ format, pattern, allOf, minLength, maxLength }: Leaf, path: string): StructuralSchema {
  const to: StructuralSchema = {
    type: "string",
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  };
  if (format !== undefined && CHECKED_FORMATS.has(format)) return { ...to, format };
  for (const { pattern: one } of allOf ?? [{ pattern }])
    if (/\(\?<?[=!]|\\[1-9]/.test(one ?? ""))
      throw new Fault("Bug", path, `the pattern ${one} needs look-around or back-references, which RE2 has not`);
  return {
    ...to,
    ...(pattern !== undefined && { pattern }),
    ...(allOf !== undefined && { allOf: allOf.map((one) => ({ pattern: one.pattern })) }),
  };
}

function number({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Leaf): StructuralSchema {
  if (minimum === INT32.minimum && maximum === INT32.maximum) return { type, format: "int32" };
  return {
    type,
    ...(multipleOf !== undefined && { multipleOf }),
    ...(exclusiveMinimum !== undefined && { exclusiveMinimum }),
    ...(exclusiveMaximum !== undefined && { exclusiveMaximum }),
    // zod bounds integers by what a double holds exactly, which is no rule of the API.
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

function literals(values: readonly unknown[], path: string): StructuralSchema {
  const [type, ...others] = new Set(values.map((value) => typeof value));
  if (others.length > 0 || (type !== "string" && type !== "number" && type !== "boolean"))
    return refuse(path, "a choice of values that are not of one type");
  return { type, enum: [...values] };
}

/** Integer or string, and sets of literals, are the unions that Kubernetes knows. */
function alternatives(options: readonly $ZodTypes[], path: string): StructuralSchema {
  const real = options.filter((option) => option._zod.def.type !== "null");
  const nullable = real.length < options.length && { nullable: true };
  if (real.some((option) => option._zod.def.type === "object")) return refuse(path, "a union of shapes");
  const parts = real.map((option) => structuralSchema(option, path));
  const types = new Set(parts.map(({ type }) => type));
  if (types.size === 1 && parts.every((part) => part.enum !== undefined))
    return { type: parts[0]!.type!, ...nullable, enum: [...new Set(parts.flatMap((part) => part.enum))] };
  const isEither = types.size === 2 && types.has("integer") && types.has("string");
  if (!isEither || parts.some((part) => part.enum !== undefined)) return refuse(path, "a union of shapes");
  const pattern = parts.find((part) => part.pattern !== undefined)?.pattern;
  return {
    ...nullable,
    "x-kubernetes-int-or-string": true,
    anyOf: [{ type: "integer" }, { type: "string" }],
    ...(pattern !== undefined && { pattern }),
  };
}

function fields(shape: Readonly<Record<string, $ZodType>>, catchall: $ZodType | undefined, path: string) {
  const to: StructuralSchema = { type: "object" };
  const names = Object.keys(shape);
  if (names.length > 0)
    to.properties = Object.fromEntries(names.map((name) => [name, structuralSchema(shape[name]!, `${path}.${name}`)]));
  if (catchall !== undefined && catchall._zod.def.type !== "never") {
    // An object that is open beside its fields keeps what it doesn't know; a map of anything has no fields.
    if (isAnything(catchall) || names.length > 0) to["x-kubernetes-preserve-unknown-fields"] = true;
    else to.additionalProperties = structuralSchema(catchall, `${path}{}`);
  }
  // zod takes a missing field for `unknown`.
  const required = names.filter((name) => shape[name]!._zod.optin === undefined && !isAnything(shape[name]!));
  if (required.length > 0) to.required = required;
  return to;
}

function isAnything(schema: $ZodType): boolean {
  const { type } = schema._zod.def;
  return type === "unknown" || type === "any";
}
