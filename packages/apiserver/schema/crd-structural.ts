/**
 * The rules that make a schema structural (KEP-20180423, apiextensions v1): its shape can be read off without evaluating
 * anything, so objects can be pruned and defaulted by it.
 */

import { Pattern } from "@slipway/cel/formats";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { forbidden, invalid, notSupported, required } from "../model/field-error.ts";
import type { FieldError, Schema } from "../model/served.ts";
import { RuleCheck } from "./cel/check.ts";
import { contents } from "./crd-contents.ts";
import { listRules } from "./crd-lists.ts";
import { nodeOf } from "./node.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = ["$ref", "definitions", "dependencies", "id", "patternProperties"];
const MAX_DEPTH = 100;
/** Letters of a pattern. Making one ready takes microseconds for each; upstream takes a hundred times as many. */
const MAX_PATTERN = 10_000;
/** What it takes to look at a schema without those below it, in steps of a walk; each letter of a pattern is one more. */
const STEPS_A_SCHEMA = 10;

/** Where a schema stands, and how deep. */
interface Place {
  path: string;
  depth: number;
}

const below = ({ path, depth }: Place, step: string): Place => ({ path: path + step, depth: depth + 1 });

interface Walk {
  errors: FieldError[];
  pace: Pace;
}

/** What keeps `schema` from being a structural schema of whole objects. `path` is where the schema stands. */
export function* structuralErrors(schema: unknown, path: string): Passes<FieldError[]> {
  const errors: FieldError[] = [];
  if (!isRecord(schema)) return [required(path)];
  const root = schema as Schema;
  if (root.type !== "object")
    errors.push(
      root.type === undefined
        ? required(`${path}.type`, "must not be empty at the root")
        : invalid(`${path}.type`, root.type, "must be object at the root"),
    );
  if (root.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  metadataErrors(root, path, errors);
  yield* shape(root, { path, depth: 0 }, { errors, pace: new Pace() });
  typeMetaErrors(root, path, errors);
  if (errors.length > 0) return errors;
  yield;
  const node = nodeOf(root);
  const check = new RuleCheck(node, errors);
  yield* contents(node, path, 1, check);
  check.together(path);
  return errors;
}

function metadataErrors(root: Schema, path: string, errors: FieldError[]): void {
  const metadata = root.properties?.metadata;
  if (metadata === undefined) return;
  if (metadata.type !== undefined && metadata.type !== "object")
    errors.push(invalid(`${path}.properties[metadata].type`, metadata.type, "must be object"));
  const known = new Set(["type", "properties", "description"]);
  const names = Object.keys(metadata.properties ?? {});
  if (Object.keys(metadata).some((k) => !known.has(k)) || names.some((n) => n !== "name" && n !== "generateName"))
    errors.push(
      forbidden(
        `${path}.properties[metadata]`,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
}

/** The form of a schema and of all below it, without looking into what it says of values. */
function* shape(schema: unknown, at: Place, walk: Walk): Passes<void> {
  const { path, depth } = at;
  const { errors } = walk;
  if (!isRecord(schema)) return void errors.push(invalid(path, schema, "must be a schema"));
  if (depth > MAX_DEPTH) return void errors.push(forbidden(path, `schema is nested deeper than ${MAX_DEPTH} levels`));
  for (const key of UNSUPPORTED)
    if (schema[key] !== undefined && schema[key] !== null)
      errors.push(forbidden(`${path}.${key}`, `${key} is not supported`));
  const s = schema as Schema;
  ofType(s, at, errors);
  yield* keywords(s, path, walk);
  listRules(s, path, errors);
  if (s["x-kubernetes-embedded-resource"] === true) {
    if (s.properties === undefined && s["x-kubernetes-preserve-unknown-fields"] !== true)
      errors.push(
        required(
          `${path}.properties`,
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ),
      );
    if (s.type !== "object")
      errors.push(invalid(`${path}.type`, s.type ?? "", "must be object if x-kubernetes-embedded-resource is true"));
    typeMetaErrors(s, path, errors);
    if (s.properties?.metadata?.type !== undefined && s.properties.metadata.type !== "object")
      errors.push(invalid(`${path}.properties[metadata].type`, s.properties.metadata.type, "must be object"));
  }
  if (s["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  for (const [name, child] of Object.entries(s.properties ?? {}))
    yield* shape(child, below(at, `.properties[${name}]`), walk);
  if (s.items !== undefined) yield* shape(s.items, below(at, ".items"), walk);
  if (typeof s.additionalProperties === "object")
    yield* shape(s.additionalProperties, below(at, ".additionalProperties"), walk);
  for (const [step, part] of logicParts(s)) yield* logic(part, s, below(at, step), walk);
}

function typeMetaErrors({ properties }: Schema, path: string, errors: FieldError[]): void {
  for (const name of ["apiVersion", "kind"]) {
    const type = properties?.[name]?.type;
    if (type !== undefined && type !== "string")
      errors.push(invalid(`${path}.properties[${name}].type`, type, "must be string"));
  }
}

function ofType(s: Schema, { path, depth }: Place, errors: FieldError[]): void {
  if (s["x-kubernetes-int-or-string"] === true) {
    return;
  }
  if (s.type !== undefined && !TYPES.includes(s.type)) errors.push(notSupported(`${path}.type`, s.type, TYPES));
  if ((s.type as string) === "null")
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  if (s.type === undefined && depth > 0 && s["x-kubernetes-preserve-unknown-fields"] !== true)
    errors.push(
      required(
        `${path}.type`,
        path.endsWith(".items")
          ? "must not be empty for specified array items"
          : "must not be empty for specified object fields",
      ),
    );
  if (s.type === "array" && s.items === undefined) errors.push(required(`${path}.items`, "must be specified"));
}

function* keywords(s: Schema, path: string, { errors, pace }: Walk): Passes<void> {
  if (pace.isOver(STEPS_A_SCHEMA + (s.pattern?.length ?? 0))) yield;
  if (Object.keys(s.properties ?? {}).length > 0 && (s.additionalProperties ?? true) !== true)
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"));
  if (s.uniqueItems === true)
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  const wrong = s.pattern === undefined ? undefined : patternError(s.pattern);
  if (wrong !== undefined)
    errors.push(
      invalid(
        `${path}.pattern`,
        s.pattern,
        `must be a valid regular expression, but isn't: error parsing regexp: ${wrong}`,
      ),
    );
}

/** What is wrong with a pattern, in Go's words. */
function patternError(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return "expression too large";
  try {
    new Pattern(pattern);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

/** The schemas that one is combined of, each with the step to it. */
function logicParts(s: Schema): [step: string, Schema][] {
  const parts: [string, Schema][] = [];
  for (const word of ["allOf", "anyOf", "oneOf"] as const)
    for (const [i, part] of (s[word] ?? []).entries()) parts.push([`.${word}[${i}]`, part]);
  if (s.not !== undefined) parts.push([".not", s.not]);
  return parts;
}

/** Inside allOf, anyOf, oneOf and not a schema may only narrow what is specified outside. */
function* logic(part: unknown, outside: Schema, at: Place, walk: Walk): Passes<void> {
  if (!isRecord(part)) return void walk.errors.push(invalid(at.path, part, "must be a schema"));
  if (at.depth > MAX_DEPTH) return;
  yield* narrowing(part as Schema, outside, at, walk);
}

/** How each word is refused that says what a value is, not what it may be. */
const MUST_BE: Readonly<Record<string, string>> = {
  description: "empty",
  title: "empty",
  default: "undefined",
  additionalProperties: "undefined",
  nullable: "false",
  "x-kubernetes-preserve-unknown-fields": "false",
  "x-kubernetes-embedded-resource": "false",
  "x-kubernetes-int-or-string": "false",
  "x-kubernetes-list-map-keys": "empty",
  "x-kubernetes-list-type": "undefined",
  "x-kubernetes-map-type": "undefined",
  "x-kubernetes-validations": "empty",
};

function* narrowing(part: Schema, outside: Schema, at: Place, walk: Walk): Passes<void> {
  const { path, depth } = at;
  const { errors } = walk;
  if (part.type !== undefined && !isAlternative(part.type, outside, path))
    errors.push(forbidden(`${path}.type`, "must be empty to be structural"));
  for (const [key, what] of Object.entries(MUST_BE))
    if ((part as Record<string, unknown>)[key] !== undefined)
      errors.push(forbidden(`${path}.${key}`, `must be ${what} to be structural`));
  yield* keywords(part, path, walk);
  const isAtRoot = depth === 1;
  for (const [name, child] of Object.entries(part.properties ?? {})) {
    const property = below(at, `.properties[${name}]`);
    const counterpart = outside.properties?.[name] ?? openCounterpart(outside);
    if (counterpart === undefined && isAtRoot) errors.push(undefinedOutside(property.path));
    yield* logic(child, counterpart ?? {}, property, walk);
  }
  if (part.items !== undefined) yield* logic(part.items, outside.items ?? {}, below(at, ".items"), walk);
  // An allOf may wrap the int-or-string alternative together with a pattern.
  for (const [step, inner] of logicParts(part)) yield* logic(inner, outside, below(at, step), walk);
}

/** A property that a combination at the root names must be declared there too. */
function undefinedOutside(path: string): FieldError {
  const outside = path.replace(/\.(allOf|anyOf|oneOf)\[\d+\]|\.not(?=\.)/g, "");
  return required(outside, `because it is defined in ${path}`);
}

/** The two halves of an int-or-string may be named, in this order. */
function isAlternative(type: string, outside: Schema, path: string): boolean {
  if (outside["x-kubernetes-int-or-string"] !== true) return false;
  return type === "integer" ? /\.anyOf\[0\]$/.test(path) : type === "string" && /\.anyOf\[1\]$/.test(path);
}

function openCounterpart(outside: Schema): Schema | undefined {
  if (typeof outside.additionalProperties === "object") return outside.additionalProperties;
  return outside.additionalProperties === true || outside["x-kubernetes-preserve-unknown-fields"] === true
    ? outside
    : undefined;
}
