import { labelValue, qualifiedName } from "@slipway/cel/formats";
import { invalid } from "../model/field-error.ts";
import { textAt } from "../model/read.ts";
import type { FieldError } from "../model/served.ts";
import { named, oneOfField } from "../rules/value-rules.ts";

export const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const ONLY_EXISTS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

/** Empty: nothing. */
function wrongValue(operator: string, value: string): string {
  if (operator === "Exists") return value === "" ? "" : "value must be empty when `operator` is 'Exists'";
  return operator === "Equal" || operator === "" ? labelValue(value).join(";") : "";
}

/** What is wrong with the taints that a Pod bears. */
export function validateTolerations(tolerations: readonly Record<string, unknown>[], path: string): FieldError[] {
  return tolerations.flatMap((toleration, i) => {
    const at = `${path}[${i}]`;
    const [key, operator, value, effect] = ["key", "operator", "value", "effect"].map((name) =>
      textAt(toleration, name),
    ) as [string, string, string, string];
    const errors = key === "" ? [] : named(key, `${at}.key`, qualifiedName);
    if (key === "" && operator !== "Exists") errors.push(invalid(`${at}.operator`, operator, ONLY_EXISTS));
    if (toleration.tolerationSeconds !== undefined && effect !== "NoExecute")
      errors.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    const wrong = wrongValue(operator, value);
    if (wrong !== "") errors.push(invalid(`${at}.operator`, value, wrong));
    if (operator !== "") errors.push(...oneOfField(operator, `${at}.operator`, ["Equal", "Exists"]));
    if (effect !== "") errors.push(...oneOfField(effect, `${at}.effect`, TAINT_EFFECTS));
    return errors;
  });
}
