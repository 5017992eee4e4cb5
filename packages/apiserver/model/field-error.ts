/**
 * Field errors in the wording of apimachinery's `field.Error` and of the OpenAPI validator that kube-apiserver uses,
 * because people and tools match on these texts.
 */
import type { FieldError } from "./served.ts";

/** A value as `field.Error` prints it: strings quoted, numbers and booleans bare, the rest as JSON; a nil without a type as a text. */
export function printed(value: unknown): string {
  if (value === undefined) return NIL;
  if (typeof value !== "object") return JSON.stringify(value);
  return ESCAPED.reduce((text, [char, escaped]) => text.replaceAll(char, escaped), JSON.stringify(value));
}

const NIL = '"null"';

/** Characters that Go escapes within JSON. One after the other: a value may hold very many. */
const ESCAPED = [..."<>&\u2028\u2029"].map(
  (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`] as const,
);

/** The value breaks a rule of its field. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${printed(value)}: ${detail}` };
}

/** The value is of another type; what a client sent as null is a nil without one. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  const shown = value === null ? NIL : printed(value);
  return { field, reason: "FieldValueTypeInvalid", message: `Invalid value: ${shown}: ${detail}` };
}

/** The field is absent or empty. */
export function required(field: string, detail = ""): FieldError {
  return {
    field,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

/** The field may not be set. */
export function forbidden(field: string, detail: string): FieldError {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

/** The value stands twice in its list. */
export function duplicate(field: string, value: unknown): FieldError {
  return { field, reason: "FieldValueDuplicate", message: `Duplicate value: ${printed(value)}` };
}

/** The value is none of those that are allowed. */
export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const list = listOf(supported);
  return {
    field,
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${value === null ? "null" : printed(value)}: supported values: ${list}`,
  };
}

/** The text of a list that many values may be held against, made once. */
const lists = new WeakMap<readonly unknown[], string>();

function listOf(supported: readonly unknown[]): string {
  let text = lists.get(supported);
  if (text === undefined) {
    text = supported.map((s) => JSON.stringify(typeof s === "string" ? s : JSON.stringify(s))).join(", ");
    lists.set(supported, text);
  }
  return text;
}

/** The text has more than `max` bytes. */
export function tooLong(field: string, max: number): FieldError {
  return {
    field,
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${max} byte${max === 1 ? "" : "s"}`,
  };
}

/** The list or map has `actual` members, more than `max`. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    field,
    reason: "FieldValueTooMany",
    message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? "" : "s"}`,
  };
}

/** What the value names is not there. */
export function notFound(field: string, value: unknown): FieldError {
  return { field, reason: "FieldValueNotFound", message: `Not found: ${printed(value)}` };
}

/** The value was changed, and must stay as it was. */
export function immutable(field: string, value: unknown): FieldError {
  return invalid(field, value, "field is immutable");
}
