import type { FieldError } from "../model/served.ts";

/** Field errors in the wording of apimachinery's `field.Error`. */
export function requiredField(field: string, detail = ""): FieldError {
  return {
    field,
    reason: "FieldValueRequired",
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

export function invalidField(field: string, value: unknown, detail: string): FieldError {
  return { field, reason: "FieldValueInvalid", message: `Invalid value: ${JSON.stringify(value)}: ${detail}` };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { field, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` };
}

export function duplicateField(field: string, value: unknown): FieldError {
  return { field, reason: "FieldValueDuplicate", message: `Duplicate value: ${JSON.stringify(value)}` };
}

export function missingReference(field: string, value: unknown): FieldError {
  return { field, reason: "FieldValueNotFound", message: `Not found: ${JSON.stringify(value)}` };
}

/** An error for a changed value that must stay as it was. */
export function immutableField(field: string, value: unknown): FieldError {
  return invalidField(field, value, "field is immutable");
}
