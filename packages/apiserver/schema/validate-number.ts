import { invalid } from "../model/field-error.ts";
import type { FieldError, Schema } from "../model/served.ts";

const INT32 = 2 ** 31;
const INT64 = 2 ** 63;
const FLOAT32 = 3.4028234663852886e38;

/**
 * What is wrong with a number (kube-openapi `numberValidator`). Bounds of an integer that are no integers themselves are reported as errors of
 * their own, without a place.
 */
export function numberErrors(schema: Schema, value: number, path: string): FieldError[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const errors: FieldError[] = [];
  const range = rangeError(schema, value, "Checked", path);
  if (range !== undefined) errors.push(range);
  const wrong = (text: string): void => void errors.push(invalid(path, value, `${path} in body should be ${text}`));
  /** The bound to compare with, which counts as an integer beside integers. */
  const bound = (of: number, what: string): number => {
    const error = rangeError(schema, of, what, path);
    if (error !== undefined) errors.push(error);
    return error === undefined && Number.isInteger(value) ? Math.trunc(of) : of;
  };
  if (multipleOf !== undefined) {
    const factor = bound(multipleOf, "MultipleOf");
    if (factor <= 0)
      errors.push(invalid(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`));
    else if (!isMultiple(value, factor)) wrong(`a multiple of ${factor}`);
  }
  if (minimum !== undefined) {
    const least = bound(minimum, "Minimum boundary");
    if (exclusiveMinimum ? value <= least : value < least)
      wrong(`greater than ${exclusiveMinimum ? "" : "or equal to "}${least}`);
  }
  if (maximum !== undefined) {
    const most = bound(maximum, "Maximum boundary");
    if (exclusiveMaximum ? value >= most : value > most)
      wrong(`less than ${exclusiveMaximum ? "" : "or equal to "}${most}`);
  }
  return errors;
}

/** A number that its type and format can't hold. */
function rangeError({ type, format }: Schema, value: number, what: string, path: string): FieldError | undefined {
  if (type !== "integer" && type !== "number") return undefined;
  const known = type === "integer" ? ["int32", "int64"] : ["float", "double"];
  const named = format !== undefined && known.includes(format) ? `with format ${format}` : "(default format)";
  const limit = format === "int32" ? INT32 : INT64;
  const fits =
    type === "integer"
      ? Number.isInteger(value) && value >= -limit && value < limit
      : format !== "float" || Math.abs(value) <= FLOAT32;
  return fits ? undefined : invalid("", "", `${what} value must be of type ${type} ${named} in ${path}`);
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}
