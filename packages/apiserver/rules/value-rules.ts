import { type NameRule, portName } from "@slipway/cel/formats";
import { invalid, required } from "../model/field-error.ts";
import { at } from "../model/read.ts";
import type { FieldError } from "../model/served.ts";

/** Rules on single values that many kinds share, in the words of apimachinery's validation. */

const PORT_RULE = "must be between 1 and 65535, inclusive";
const PERCENT_RULE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A value that must be one of a few. Absent and empty are the schema's or `required`'s to judge. */
export function oneOfField(value: unknown, field: string, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === null || supported.includes(String(value))) return [];
  const list = supported.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return [{ field, reason: "FieldValueNotSupported", message }];
}

/** Numbers of `object` that must not be below zero; absent ones are well. */
export function nonNegative(object: unknown, path: string, names: readonly string[]): FieldError[] {
  return names.flatMap((name) => {
    const value = at(object, name);
    if (typeof value !== "number" || value >= 0) return [];
    return [invalid(`${path}.${name}`, value, "must be greater than or equal to 0")];
  });
}

/** A port's number: 1 to 65535. */
export function validatePort(port: unknown, field: string): FieldError[] {
  if (typeof port !== "number" || (port >= 1 && port <= 65535)) return [];
  return [invalid(field, port, PORT_RULE)];
}

/** A port by number or by name. */
export function validatePortOrName(port: unknown, field: string): FieldError[] {
  return typeof port === "string" ? named(port, field, portName) : validatePort(port, field);
}

/** What a name's rule says of a text. */
export function named(name: unknown, field: string, rule: NameRule): FieldError[] {
  return typeof name === "string" ? rule(name).map((wrong) => invalid(field, name, wrong)) : [];
}

/** A text that must be there and keep to a rule. */
export function requiredName(name: unknown, field: string, rule: NameRule): FieldError[] {
  return typeof name !== "string" || name === "" ? [required(field)] : named(name, field, rule);
}

/** A number from 0 on, or a percentage. */
export function numberOrPercent(value: unknown, field: string): FieldError[] {
  if (typeof value === "number" && value < 0) return [invalid(field, value, "must be greater than or equal to 0")];
  return typeof value === "string" && !/^[0-9]+%$/.test(value) ? [invalid(field, value, PERCENT_RULE)] : [];
}

/** A percentage that is more than 100 is wrong; numbers pass. */
export function atMost100Percent(value: unknown, field: string): FieldError[] {
  const percent = typeof value === "string" ? /^([0-9]+)%$/.exec(value)?.[1] : undefined;
  return Number(percent) > 100 ? [invalid(field, value, "must not be greater than 100%")] : [];
}
