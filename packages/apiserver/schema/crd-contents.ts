import type { Passes } from "../json/turns.ts";
import { invalid, notSupported, required } from "../model/field-error.ts";
import { followFieldPath } from "../model/field-path.ts";
import type { FieldError, ValidationRule } from "../model/served.ts";
import { copiesBelow, type RuleCheck } from "./cel/check.ts";
import type { Node } from "./node.ts";
import { prune } from "./prune.ts";
import { validateNode } from "./validate.ts";

/** What it takes to look at a node without those below it, in steps of a walk. */
const STEPS_A_NODE = 5;

/**
 * Defaults that must hold, and rules that must compile. `copies`: how many values of the node one object may hold, unless only the size of
 * a request limits that.
 */
export function* contents(node: Node, path: string, copies: number | undefined, check: RuleCheck): Passes<void> {
  const { errors } = check;
  if (check.pace.isOver(STEPS_A_NODE)) yield;
  if (node.hasDefaults && (node.schema.default ?? undefined) !== undefined)
    defaultErrors(node, `${path}.default`, errors);
  if (node.hasRules && rulesAreFormed(node, path, errors)) yield* check.rules(node, path, copies);
  const each = copiesBelow(node);
  const below = copies === undefined || each === undefined ? undefined : copies * each;
  for (const [name, child] of node.properties) yield* contents(child, `${path}.properties[${name}]`, below, check);
  if (node.items) yield* contents(node.items, `${path}.items`, below, check);
  if (typeof node.additional === "object")
    yield* contents(node.additional, `${path}.additionalProperties`, below, check);
}

function defaultErrors(node: Node, path: string, errors: FieldError[]): void {
  const { default: given } = node.schema;
  const value = typeof given === "object" ? structuredClone(given) : given;
  if (prune(node, value).length > 0) errors.push(invalid(path, node.schema.default, "must not have unknown fields"));
  for (const error of validateNode(node, value)) {
    const within = error.field.replace(/^\./, "");
    errors.push({ ...error, field: within === "" ? path : `${path}.${within}` });
  }
}

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Whether the rules of a node are what rules must be, whatever they say. */
function rulesAreFormed(node: Node, path: string, errors: FieldError[]): boolean {
  const before = errors.length;
  const rules = node.schema["x-kubernetes-validations"] ?? [];
  for (const [i, rule] of rules.entries()) formErrors(rule, node, `${path}.x-kubernetes-validations[${i}]`, errors);
  return errors.length === before;
}

function formErrors(rule: ValidationRule, { schema }: Node, at: string, errors: FieldError[]): void {
  const { message = "", messageExpression = "", reason, fieldPath = "" } = rule;
  const text = typeof rule.rule === "string" ? rule.rule.trim() : "";
  const lines = /[\n\r]/;
  if (text === "") errors.push(required(`${at}.rule`, "rule is not specified"));
  else if (message !== "" && message.trim() === "")
    errors.push(invalid(`${at}.message`, message, "must be non-empty if specified"));
  else if (lines.test(message.trim())) errors.push(invalid(`${at}.message`, message, "must not contain line breaks"));
  else if (lines.test(text) && message.trim() === "")
    errors.push(required(`${at}.message`, "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(required(`${at}.messageExpression`, "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${at}.reason`, reason, REASONS));
  if (fieldPath === "") return;
  if (fieldPath.trim() === "") errors.push(invalid(`${at}.fieldPath`, fieldPath, "must be non-empty if specified"));
  if (lines.test(fieldPath)) errors.push(invalid(`${at}.fieldPath`, fieldPath, "must not contain line breaks"));
  if ("wrong" in followFieldPath(fieldPath, schema))
    errors.push(invalid(`${at}.fieldPath`, fieldPath, "must be a valid path"));
}
