/**
 * The schema part of validation: types, bounds, formats, combinations, list uniqueness. CEL rules come after
 * (`cel/rules.ts`), as in kube-apiserver.
 *
 * Ratcheting: on an update, a value that equals its predecessor is not judged again, so an object that was stored under
 * weaker rules can still be changed elsewhere.
 */
import type { FieldError } from "../served.ts";
import { sameJson } from "./equality.ts";
import { duplicate, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "./field-error.ts";
import { duplicates, keyFields, oldField, predecessors } from "./lists.ts";
import { isRecord, type Node } from "./node.ts";

/** Adds to `errors` what is wrong with `value`. `old` is the value it replaces, where that is known. */
export function validateNode(node: Node, value: unknown, old: unknown, path: string, errors: FieldError[]): void {
  if (old !== undefined && sameJson(value, old)) return;
  if (value === null && node.nullable) return;
  const type = typeOf(value);
  if (!typeFits(node, type, value)) {
    const wanted = node.intOrString ? "integer,string" : node.schema.type;
    return void errors.push(
      typeInvalid(path, type, `${path} in body must be of type ${wanted}: ${JSON.stringify(type)}`),
    );
  }
  if (node.schema.enum !== undefined && !node.schema.enum.some((allowed) => sameJson(allowed, value)))
    errors.push(notSupported(path, value, node.schema.enum));
  if (typeof value === "string") ofString(node, value, path, errors);
  else if (typeof value === "number") ofNumber(node, value, path, errors);
  else if (Array.isArray(value)) ofList(node, value, old, path, errors);
  else if (isRecord(value)) ofObject(node, value, old, path, errors);
  if (node.allOf.length + node.anyOf.length + node.oneOf.length > 0 || node.not !== undefined)
    combined(node, value, path, errors);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function typeFits(node: Node, type: string, value: unknown): boolean {
  if (node.intOrString) return type === "string" || type === "integer";
  const wanted = node.schema.type;
  if (wanted === undefined) return value !== null || !isShaped(node);
  return wanted === type || (wanted === "number" && type === "integer");
}

/** Whether a schema without a type still says something about the shape. */
function isShaped(node: Node): boolean {
  return node.properties.size > 0 || node.items !== undefined;
}

function ofString(node: Node, value: string, path: string, errors: FieldError[]): void {
  const { minLength, maxLength, pattern } = node.schema;
  if (maxLength !== undefined && value.length > maxLength && runes(value) > maxLength)
    errors.push(tooLong(path, maxLength));
  if (minLength !== undefined && runes(value) < minLength)
    errors.push(invalid(path, value, `${path} in body should be at least ${minLength} chars long`));
  if (node.pattern !== undefined && !node.pattern.test(value))
    errors.push(invalid(path, value, `${path} in body should match '${pattern}'`));
  if (node.format !== undefined && !node.format(value))
    errors.push(
      typeInvalid(path, value, `${path} in body must be of type ${node.schema.format}: ${JSON.stringify(value)}`),
    );
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const INT32 = 2 ** 31;

function ofNumber(node: Node, value: number, path: string, errors: FieldError[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = node.schema;
  if (format === "int32" && (value < -INT32 || value >= INT32))
    errors.push(invalid(path, value, `Checked value must be of type ${node.schema.type} with format int32 in body`));
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    errors.push(
      invalid(path, value, `${path} in body should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`),
    );
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    errors.push(
      invalid(
        path,
        value,
        `${path} in body should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`,
      ),
    );
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    errors.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
}

function isMultiple(value: number, of: number): boolean {
  if (of === 0) return true;
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

function ofList(node: Node, list: readonly unknown[], old: unknown, path: string, errors: FieldError[]): void {
  const { minItems, maxItems, uniqueItems } = node.schema;
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems));
  if (minItems !== undefined && list.length < minItems)
    errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`));
  if (uniqueItems === true && list.some((item, i) => list.slice(0, i).some((earlier) => sameJson(earlier, item))))
    errors.push(invalid(path, list, `${path} in body shouldn't contain duplicates`));
  for (const i of duplicates(node, list)) errors.push(duplicate(`${path}[${i}]`, keyFields(node, list[i])));
  if (node.items === undefined) return;
  const before = predecessors(node, old);
  for (let i = 0; i < list.length; i++) validateNode(node.items, list[i], before(list[i]), `${path}[${i}]`, errors);
}

function ofObject(node: Node, value: Record<string, unknown>, old: unknown, path: string, errors: FieldError[]): void {
  const { minProperties, maxProperties } = node.schema;
  const at = path === "" ? "" : `${path}.`;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const count = Object.keys(value).length;
    if (maxProperties !== undefined && count > maxProperties) errors.push(tooMany(path, count, maxProperties));
    if (minProperties !== undefined && count < minProperties)
      errors.push(invalid(path, count, `${path} in body should have at least ${minProperties} properties`));
  }
  for (const name of node.required) if (!Object.hasOwn(value, name)) errors.push(required(at + name));
  for (const key in value) {
    const child = node.properties.get(key) ?? (typeof node.additional === "object" ? node.additional : undefined);
    if (child !== undefined) validateNode(child, value[key], oldField(old, key), at + key, errors);
  }
  if (node.embedded) {
    for (const name of ["apiVersion", "kind"])
      if (value[name] === undefined || value[name] === "") errors.push(required(at + name, "must not be empty"));
  }
}

/** allOf, anyOf, oneOf, not: the errors of the closest alternative are told along, as kube-openapi does. */
function combined(node: Node, value: unknown, path: string, errors: FieldError[]): void {
  const named = JSON.stringify(path);
  const attempt = (candidate: Node): FieldError[] => {
    const found: FieldError[] = [];
    validateNode(candidate, value, undefined, path, found);
    return found;
  };
  for (const part of node.allOf) errors.push(...attempt(part));
  if (node.anyOf.length > 0) {
    const outcomes = node.anyOf.map(attempt);
    if (!outcomes.some((o) => o.length === 0))
      errors.push(invalid(path, "", `${named} must validate at least one schema (anyOf)`), ...fewest(outcomes));
  }
  if (node.oneOf.length > 0) {
    const outcomes = node.oneOf.map(attempt);
    const valid = outcomes.filter((o) => o.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? "Found none valid" : `Found ${valid} valid alternatives`;
      errors.push(invalid(path, "", `${named} must validate one and only one schema (oneOf). ${found}`));
      if (valid === 0) errors.push(...fewest(outcomes));
    }
  }
  if (node.not !== undefined && attempt(node.not).length === 0)
    errors.push(invalid(path, "", `${named} must not validate the schema (not)`));
}

function fewest(outcomes: readonly FieldError[][]): FieldError[] {
  return outcomes.reduce((best, next) => (next.length < best.length ? next : best), outcomes[0] ?? []);
}
