import type { Checked } from "./checker.ts";
import { parseDuration } from "./duration.ts";
import type { Call, Expression, Issue, Item } from "./expression.ts";
import { templateIssues } from "./library/format-templates.ts";
import { patternError } from "./library/strings.ts";
import { isWithinTime, parseTime } from "./library/times.ts";
import { heldBy, sameType, type Type, typeName } from "./types.ts";
import type { Value } from "./values.ts";

/**
 * What is wrong with what is written out in an expression that has right types: elements of a list or map that differ in type (but
 * for what is formatted), and texts that are meant as a duration, a time, a pattern or a template, and are none.
 */
export function literalIssues(expression: Expression, checked: Checked): Issue[] {
  const found: Issue[] = [];
  visit(expression, { checked, found, formatted: false });
  return found;
}

interface Visit {
  readonly checked: Checked;
  readonly found: Issue[];
  /** Within a call of `format`, whose arguments may differ in type. */
  readonly formatted: boolean;
}

function visit(expression: Expression, at: Visit): void {
  switch (expression.kind) {
    case "select":
      visit(expression.operand, at);
      return;
    case "call":
      visitCall(expression, at);
      return;
    case "list":
      for (const { value } of expression.items) visit(value, at);
      alike(expression.items, at);
      return;
    case "map":
      for (const { key, value } of expression.entries) {
        visit(key, at);
        visit(value, at);
      }
      alike(
        expression.entries.map(({ key }) => ({ value: key, optional: false })),
        at,
      );
      alike(expression.entries, at);
      return;
    case "fold":
      for (const part of [expression.range, expression.init, expression.condition, expression.step, expression.result])
        visit(part, at);
  }
}

function visitCall(call: Call, at: Visit): void {
  const { fn, target, args } = call;
  const inner = fn === "format" ? { ...at, formatted: true } : at;
  if (target) visit(target, inner);
  for (const arg of args) visit(arg, inner);
  if (fn === "format") at.found.push(...templateIssues(call, at.checked));
  const meant = MEANT[fn];
  const arg = args[0];
  if (meant === undefined || arg?.kind !== "literal" || meant(arg.value)) return;
  at.found.push({ at: arg.at, message: `invalid ${fn} argument` });
}

function alike(items: readonly Item[], { checked, found, formatted }: Visit): void {
  if (formatted) return;
  let first: Type | undefined;
  for (const { value, optional } of items) {
    const own = checked.typeOf(value);
    const type = (optional ? heldBy(own) : undefined) ?? own;
    first ??= type;
    if (sameType(first, type)) continue;
    found.push({ at: value.at, message: `expected type '${typeName(first)}' but found '${typeName(type)}'` });
    return;
  }
}

/** By the function, whether it takes a value that is written out. */
const MEANT: Readonly<Record<string, (value: Value) => boolean>> = {
  duration: (value) => typeof value === "string" && parseDuration(value) !== undefined,
  timestamp: (value) =>
    isWithinTime(typeof value === "bigint" ? value * 1_000_000_000n : (parseTime(String(value)) ?? 1n << 200n)),
  matches: (value) => typeof value === "string" && patternError(value) === undefined,
};
