import { dnsSubdomain, labelValue, type NameRule, portName, qualifiedName } from "@slipway/cel/formats";
import { invalid } from "../model/field-error.ts";
import { membersAt, objectsAt, textsAt } from "../model/read.ts";
import type { FieldError } from "../model/served.ts";

/** RFC 1123 subdomain: names of most objects. */
export function validateSubdomain(name: unknown, field: string): FieldError[] {
  return judged(dnsSubdomain, name, field);
}

/** A label's key: an optional DNS prefix and a name of at most 63 characters. */
export function validateLabelKey(key: unknown, field: string): FieldError[] {
  return judged(qualifiedName, key, field);
}

/** A label's value: empty, or up to 63 letters, digits, `-`, `_` and `.`. */
export function validateLabelValue(value: unknown, field: string): FieldError[] {
  return judged(labelValue, value, field);
}

/** A port's name (IANA service name, RFC 6335 §5.1). */
export function validatePortName(name: unknown, field: string): FieldError[] {
  return judged(portName, name, field);
}

function judged(rule: NameRule, name: unknown, field: string): FieldError[] {
  return typeof name === "string" ? rule(name).map((wrong) => invalid(field, name, wrong)) : [];
}

/** Keys and values of labels or of a map that selects by them. */
export function validateLabels(labels: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...validateLabelKey(key, field),
    ...validateLabelValue(value, field),
  ]);
}

/** A `metav1.LabelSelector`'s keys, values and operators. */
export function validateLabelSelector(selector: unknown, field: string): FieldError[] {
  const errors = validateLabels(membersAt(selector, "matchLabels"), `${field}.matchLabels`);
  for (const [i, expression] of objectsAt(selector, "matchExpressions").entries()) {
    const path = `${field}.matchExpressions[${i}]`;
    const values = textsAt(expression, "values");
    const operator = expression.operator;
    if ((operator === "In" || operator === "NotIn") && values.length === 0) {
      const detail = "must be specified when `operator` is 'In' or 'NotIn'";
      errors.push({ field: `${path}.values`, reason: "FieldValueRequired", message: `Required value: ${detail}` });
    }
    if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.push({ field: `${path}.values`, reason: "FieldValueForbidden", message: `Forbidden: ${detail}` });
    }
    if (!["In", "NotIn", "Exists", "DoesNotExist"].includes(String(operator)))
      errors.push(invalid(`${path}.operator`, operator ?? "", "not a valid selector operator"));
    if (typeof expression.key === "string") errors.push(...validateLabelKey(expression.key, `${path}.key`));
  }
  return errors;
}

/** Whether labels match a `metav1.LabelSelector`; a selector that is absent matches nothing. */
export function selects(selector: unknown, labels: Record<string, unknown>): boolean {
  if (typeof selector !== "object" || selector === null) return false;
  const wanted = Object.entries(membersAt(selector, "matchLabels"));
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  return objectsAt(selector, "matchExpressions").every((expression) => {
    const value = labels[String(expression.key)];
    const values = textsAt(expression, "values");
    switch (expression.operator) {
      case "In":
        return typeof value === "string" && values.includes(value);
      case "NotIn":
        return typeof value !== "string" || !values.includes(value);
      case "Exists":
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}
