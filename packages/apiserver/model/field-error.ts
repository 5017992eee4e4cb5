/**
 * Field errors in the wording of apimachinery's `field.Error` and of the OpenAPI validator that kube-apiserver uses,
 * because people and tools match on these texts.
 */
import type { FieldError } from "./served.ts";

/** A value as `field.Error` prints it: strings quoted, numbers and booleans bare, the rest as JSON. */
export function printed(value: unknown): string {
  if (value === null || value === undefined) return '"null"';
  if (typeof value !== "object") return JSON.stringify(value);
  return ESCAPED.reduce((text, [char, escaped]) => text.replaceAll(char, escaped), JSON.stringify(value));
}

/** Characters that Go escapes within JSON. One after the other: a value may hold very many. */
const ESCAPED = [..."<>&\u2028\u2029"].map(
  (char) => [char, `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`] as const,
);

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${printed(value)}: ${detail}` };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { field, reason: "FieldValueTypeInvalid", message: `Invalid value: ${printed(value)}: ${detail}` };
}

export function required(field: string, detail = ""): FieldError {
  return {
    field,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { field, reason: "FieldValueDuplicate", message: `Duplicate value: ${printed(value)}` };
}

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

export function tooLong(field: string, max: number): FieldError {
  return {
    field,
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${max} byte${max === 1 ? "" : "s"}`,
  };
}

export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    field,
    reason: "FieldValueTooMany",
    message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? "" : "s"}`,
  };
}
