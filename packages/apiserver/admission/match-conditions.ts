import {
  BOOL,
  CelError,
  type Compiled,
  compile,
  DYN,
  ExpressionError,
  Meter,
  TooCostly,
  typeName,
  untyped,
  type Value,
} from "@slipway/cel";
import type { Hook } from "./configuration.ts";

/** What conditions read. There is no `authorizer`: an expression that asks it does not compile. */
const VARIABLES = new Map([
  ["object", DYN],
  ["oldObject", DYN],
  ["request", DYN],
]);

/** What a condition can see; all are JSON. */
export interface ConditionInput {
  object: unknown;
  oldObject: unknown;
  request: unknown;
}

/** What one condition, and those of one webhook together, may cost. */
const MAX_COST = 1_000_000;
const MAX_HOOK_COST = 2_500_000;

const MAX_KEPT = 1000;
const kept = new Map<string, Compiled | { wrong: string }>();

function compiled(expression: string): Compiled | { wrong: string } {
  const known = kept.get(expression);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const made = compiledOrWrong(expression);
  kept.set(expression, made);
  return made;
}

function compiledOrWrong(expression: string): Compiled | { wrong: string } {
  try {
    const made = compile(expression, VARIABLES);
    return made.type === BOOL || made.type === DYN
      ? made
      : { wrong: `must evaluate to bool but got ${typeName(made.type)}` };
  } catch (error) {
    if (error instanceof ExpressionError) return { wrong: `compilation failed: ${error.message}` };
    throw error;
  }
}

/** What is wrong with an expression; undefined when it can be used. */
export function conditionError(expression: string): string | undefined {
  const made = compiled(expression);
  return "wrong" in made ? made.wrong : undefined;
}

/**
 * Whether all conditions of a webhook hold. One that is false decides; else one that fails to evaluate does, by the failure policy:
 * Ignore means that the webhook is not called, Fail that the request is refused for the reason given.
 */
export function conditionsHold(hook: Hook, input: ConditionInput): boolean | { failed: string } {
  const variables = {
    object: untyped(input.object ?? null),
    oldObject: untyped(input.oldObject ?? null),
    request: untyped(input.request),
  };
  const failures: string[] = [];
  const budget = { left: MAX_HOOK_COST };
  for (const { expression } of hook.matchConditions) {
    const result = evaluate(expression, variables, budget);
    if (result === false) return false;
    if (typeof result === "string") failures.push(result);
  }
  if (failures.length === 0) return true;
  if (hook.failurePolicy === "Ignore") return false;
  const distinct = [...new Set(failures)];
  return { failed: distinct.length === 1 ? distinct[0]! : `[${distinct.join(", ")}]` };
}

function evaluate(expression: string, variables: Record<string, Value>, budget: { left: number }): boolean | string {
  const made = compiled(expression);
  if ("wrong" in made) return made.wrong;
  const meter = new Meter(Math.min(MAX_COST, budget.left));
  try {
    return made.run(variables, meter) === true;
  } catch (error) {
    if (error instanceof TooCostly && meter.spent > budget.left)
      return "validation failed due to running out of cost budget, no further validation rules will be run";
    if (!(error instanceof CelError || error instanceof TooCostly)) throw error;
    return `expression '${expression}' resulted in error: ${error.message}`;
  } finally {
    budget.left -= meter.spent;
  }
}
