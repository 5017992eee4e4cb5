import type { FieldError } from "../served.ts";
import { invalidField } from "./field-errors.ts";
import { membersAt, objectsAt, textsAt } from "./read.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** RFC 1123 label: names of containers, volumes, namespaces. */
export function validateLabel(name: unknown, field: string): FieldError[] {
  if (typeof name !== "string") return [];
  if (name.length > 63) return [invalidField(field, name, "must be no more than 63 characters")];
  return LABEL.test(name) ? [] : [invalidField(field, name, LABEL_RULE)];
}

/** A label's key: an optional DNS prefix and a name of at most 63 characters. */
export function validateLabelKey(key: string, field: string): FieldError[] {
  const slash = key.lastIndexOf("/");
  const name = key.slice(slash + 1);
  if (slash >= 0 && !PREFIX.test(key.slice(0, slash))) {
    return [invalidField(field, key, "prefix part must be a lowercase RFC 1123 subdomain")];
  }
  if (name.length > 63) return [invalidField(field, key, "name part must be no more than 63 characters")];
  return QUALIFIED_NAME.test(name) ? [] : [invalidField(field, key, KEY_RULE)];
}

export function validateLabelValue(value: unknown, field: string): FieldError[] {
  if (typeof value !== "string" || value === "") return [];
  if (value.length > 63) return [invalidField(field, value, "must be no more than 63 characters")];
  return QUALIFIED_NAME.test(value) ? [] : [invalidField(field, value, VALUE_RULE)];
}

/** A `metav1.LabelSelector`'s keys, values and operators. */
export function validateLabelSelector(selector: unknown, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(membersAt(selector, "matchLabels"))) {
    errors.push(...validateLabelKey(key, `${field}.matchLabels`), ...validateLabelValue(value, `${field}.matchLabels`));
  }
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
      errors.push(invalidField(`${path}.operator`, operator ?? "", "not a valid selector operator"));
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
