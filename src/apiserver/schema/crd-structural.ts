/**
 * The rules that make a schema structural (KEP-20180423, apiextensions v1): its shape can be read off without evaluating
 * anything, so objects can be pruned and defaulted by it.
 */
import type { FieldError, Schema } from "../served.ts";
import { type ExpressionCheck, expressionCheck } from "./cel/check.ts";
import { copiesBelow } from "./cel/cost.ts";
import { applyDefaults } from "./defaults.ts";
import { forbidden, invalid, notSupported, required } from "./field-error.ts";
import { isRecord, type Node, nodeOf } from "./node.ts";
import { prune } from "./prune.ts";
import { fromRe2 } from "./regexp.ts";
import { validateNode } from "./validate.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED = [
  "$ref",
  "definitions",
  "dependencies",
  "deprecated",
  "discriminator",
  "id",
  "patternProperties",
  "readOnly",
  "writeOnly",
  "xml",
];
const NOT_IN_LOGIC = [
  "title",
  "description",
  "default",
  "nullable",
  "additionalProperties",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
] as const;
const MAX_DEPTH = 100;

/** What keeps `schema` from being a structural schema of whole objects. `path` is where the schema stands. */
export function structuralErrors(schema: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!isRecord(schema)) return [required(path, "schemas are required")];
  const root = schema as Schema;
  if (root.type !== "object")
    errors.push(
      root.type === undefined
        ? required(`${path}.type`, "must not be empty at the root")
        : invalid(`${path}.type`, root.type, "must be object at the root"),
    );
  if (root.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  metadataErrors(root, path, errors);
  shape(root, path, 0, errors);
  if (errors.length === 0) contents(nodeOf(root), path, errors, 1, expressionCheck());
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
function shape(schema: unknown, path: string, depth: number, errors: FieldError[]): void {
  if (!isRecord(schema)) return void errors.push(invalid(path, schema, "must be a schema"));
  if (depth > MAX_DEPTH) return void errors.push(forbidden(path, `schema is nested deeper than ${MAX_DEPTH} levels`));
  for (const key of UNSUPPORTED)
    if (schema[key] !== undefined) errors.push(forbidden(`${path}.${key}`, `${key} is not supported`));
  const s = schema as Schema;
  ofType(s, path, depth, errors);
  keywords(s, path, errors);
  listRules(s, path, errors);
  if (s["x-kubernetes-embedded-resource"] === true) {
    if (s.type !== "object")
      errors.push(invalid(`${path}.type`, s.type ?? "", "must be object if x-kubernetes-embedded-resource is true"));
    if (s.properties === undefined && s["x-kubernetes-preserve-unknown-fields"] !== true)
      errors.push(
        required(
          `${path}.properties`,
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        ),
      );
  }
  if (s["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  for (const [name, child] of Object.entries(s.properties ?? {}))
    shape(child, `${path}.properties[${name}]`, depth + 1, errors);
  if (s.items !== undefined) shape(s.items, `${path}.items`, depth + 1, errors);
  if (typeof s.additionalProperties === "object")
    shape(s.additionalProperties, `${path}.additionalProperties`, depth + 1, errors);
  for (const [at, part] of logicParts(s, path)) logic(part, s, at, depth + 1, errors);
}

function ofType(s: Schema, path: string, depth: number, errors: FieldError[]): void {
  if (s["x-kubernetes-int-or-string"] === true) {
    if (s.type !== undefined)
      errors.push(forbidden(`${path}.type`, "must be empty if x-kubernetes-int-or-string is true"));
    return;
  }
  if (s.type !== undefined && !TYPES.includes(s.type)) errors.push(notSupported(`${path}.type`, s.type, TYPES));
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

function keywords(s: Schema, path: string, errors: FieldError[]): void {
  if (s.properties !== undefined && typeof s.additionalProperties === "object")
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"));
  if (s.additionalProperties === false)
    errors.push(forbidden(`${path}.additionalProperties`, "additionalProperties cannot be set to false"));
  if (s.uniqueItems === true)
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  if (s.pattern !== undefined) {
    try {
      fromRe2(s.pattern);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      errors.push(invalid(`${path}.pattern`, s.pattern, `must be a valid regular expression, but isn't: ${detail}`));
    }
  }
}

function listRules(s: Schema, path: string, errors: FieldError[]): void {
  const type = s["x-kubernetes-list-type"];
  const keys = s["x-kubernetes-list-map-keys"];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (type !== undefined && s.type !== "array")
    errors.push(invalid(`${path}.type`, s.type ?? "", "must be array if x-kubernetes-list-type is specified"));
  if (type !== undefined && !["atomic", "set", "map"].includes(type))
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, type, ["atomic", "map", "set"]));
  if (type !== "map") {
    if (keys !== undefined && keys.length > 0)
      errors.push(invalid(at, keys, "must be undefined if x-kubernetes-list-type is not map"));
    return;
  }
  if (keys === undefined || keys.length === 0)
    return void errors.push(required(at, "must not be empty if x-kubernetes-list-type is map"));
  if (s.items?.type !== "object")
    errors.push(
      invalid(
        `${path}.items.type`,
        s.items?.type ?? "",
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    );
  for (const key of keys) {
    const property = s.items?.properties?.[key];
    if (property === undefined) {
      errors.push(invalid(at, keys, "entries must all be names of item properties"));
    } else if (property.type === "object" || property.type === "array") {
      errors.push(
        invalid(
          `${path}.items.properties[${key}].type`,
          property.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    } else if (property.default === undefined && !s.items?.required?.includes(key)) {
      errors.push(
        required(
          `${path}.items.properties[${key}].default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    }
  }
}

function logicParts(s: Schema, path: string): [string, Schema][] {
  const parts: [string, Schema][] = [];
  for (const word of ["allOf", "anyOf", "oneOf"] as const)
    for (const [i, part] of (s[word] ?? []).entries()) parts.push([`${path}.${word}[${i}]`, part]);
  if (s.not !== undefined) parts.push([`${path}.not`, s.not]);
  return parts;
}

/** Inside allOf, anyOf, oneOf and not a schema may only narrow what is specified outside. */
function logic(part: unknown, outside: Schema, path: string, depth: number, errors: FieldError[]): void {
  if (!isRecord(part)) return void errors.push(invalid(path, part, "must be a schema"));
  if (depth > MAX_DEPTH) return;
  narrowing(part as Schema, outside, path, depth, errors);
}

function narrowing(part: Schema, outside: Schema, path: string, depth: number, errors: FieldError[]): void {
  const narrowsIntOrString = outside["x-kubernetes-int-or-string"] === true && /\.anyOf\[[01]\]$/.test(path);
  if (part.type !== undefined && !narrowsIntOrString)
    errors.push(forbidden(`${path}.type`, "must be empty to be structural"));
  for (const key of NOT_IN_LOGIC)
    if (part[key] !== undefined) errors.push(forbidden(`${path}.${key}`, "must be undefined to be structural"));
  keywords(part, path, errors);
  for (const [name, child] of Object.entries(part.properties ?? {})) {
    const at = `${path}.properties[${name}]`;
    const counterpart = outside.properties?.[name] ?? openCounterpart(outside);
    if (counterpart === undefined)
      errors.push(
        required(at.replace(/\.(allOf|anyOf|oneOf)\[\d+\]|\.not(?=\.)/g, ""), `because it is defined in ${at}`),
      );
    else logic(child, counterpart, at, depth + 1, errors);
  }
  if (part.items !== undefined) {
    if (outside.items === undefined) errors.push(required(`${path}.items`, `because it is defined in ${path}.items`));
    else logic(part.items, outside.items, `${path}.items`, depth + 1, errors);
  }
  // An allOf may wrap the int-or-string alternative together with a pattern.
  for (const [at, inner] of logicParts(part, path)) logic(inner, outside, at, depth + 1, errors);
}

function openCounterpart(outside: Schema): Schema | undefined {
  if (typeof outside.additionalProperties === "object") return outside.additionalProperties;
  return outside.additionalProperties === true || outside["x-kubernetes-preserve-unknown-fields"] === true
    ? outside
    : undefined;
}

/** Defaults that must hold, and rules that must compile. `copies`: how many values of the node one object may hold. */
function contents(node: Node, path: string, errors: FieldError[], copies: number, check: ExpressionCheck): void {
  if (node.hasDefaults && node.schema.default !== undefined) defaultErrors(node, `${path}.default`, errors);
  if (node.hasRules) ruleErrors(node, path, errors, copies, check);
  for (const [name, child] of node.properties) contents(child, `${path}.properties[${name}]`, errors, copies, check);
  const below = copies * copiesBelow(node);
  if (node.items) contents(node.items, `${path}.items`, errors, below, check);
  if (typeof node.additional === "object")
    contents(node.additional, `${path}.additionalProperties`, errors, below, check);
}

function defaultErrors(node: Node, path: string, errors: FieldError[]): void {
  const value = structuredClone(node.schema.default);
  if (prune(node, value).length > 0) errors.push(invalid(path, node.schema.default, "must not have unknown fields"));
  applyDefaults(node, value);
  const found: FieldError[] = [];
  validateNode(node, value, undefined, "", found);
  for (const error of found) errors.push({ ...error, field: error.field === "" ? path : `${path}.${error.field}` });
}

function ruleErrors(node: Node, path: string, errors: FieldError[], copies: number, check: ExpressionCheck): void {
  for (const [i, rule] of (node.schema["x-kubernetes-validations"] ?? []).entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    if (typeof rule.rule !== "string" || rule.rule.trim() === "") {
      errors.push(required(`${at}.rule`, "rule is not specified"));
      continue;
    }
    const problem = check.rule(node, rule.rule, copies);
    if (problem?.startsWith("estimated")) errors.push(forbidden(`${at}.rule`, problem));
    else if (problem !== undefined) errors.push(invalid(`${at}.rule`, { rule: rule.rule }, problem));
    if (rule.message?.includes("\n"))
      errors.push(invalid(`${at}.message`, rule.message, "message must not contain line breaks"));
    if (rule.message === undefined && rule.rule.trim().includes("\n"))
      errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
    const message = rule.messageExpression === undefined ? undefined : check.message(node, rule.messageExpression);
    if (message !== undefined) errors.push(invalid(`${at}.messageExpression`, rule.messageExpression, message));
  }
}
