import type { ParseResult } from "@marcbachmann/cel-js";
import { EvaluationError } from "@marcbachmann/cel-js";
import { described } from "../schema/cel/check.ts";
import { loopDepth } from "../schema/cel/cost.ts";
import { typing } from "../schema/cel/environment.ts";
import { parseRule } from "../schema/cel/program.ts";
import { untyped } from "../schema/cel/value.ts";
import type { Hook } from "./configuration.ts";

/** Where match conditions run. There is no `authorizer`: an expression that asks it does not compile. */
const environment = typing()
  .registerVariable("object", "dyn")
  .registerVariable("oldObject", "dyn")
  .registerVariable("request", "dyn");

/** What a condition can see; all are JSON. */
export interface ConditionInput {
  object: unknown;
  oldObject: unknown;
  request: unknown;
}

/** `nodes * longest list ** depth` bounds the steps of an evaluation. */
type Compiled = { run: ParseResult; nodes: number; depth: number } | { wrong: string };

/** Steps that the conditions of one webhook may take together: about 0.1 µs each. */
const MAX_STEPS = 10_000_000;

const MAX_KEPT = 1000;
const kept = new Map<string, Compiled>();

function compiled(expression: string): Compiled {
  const known = kept.get(expression);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const made = compile(expression);
  kept.set(expression, made);
  return made;
}

function compile(expression: string): Compiled {
  try {
    const run = parseRule(environment, expression);
    const { valid, type, error } = run.check();
    if (!valid) return { wrong: `compilation failed: ${described(error, expression)}` };
    return type === "bool" || type === "dyn"
      ? { run, ...loopDepth(run.ast) }
      : { wrong: `must evaluate to bool but got ${type}` };
  } catch (error) {
    return { wrong: `compilation failed: ${described(error, expression)}` };
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
  const budget = { left: MAX_STEPS, longest: longestIn(input) };
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

function evaluate(
  expression: string,
  variables: Record<string, unknown>,
  budget: { left: number; longest: number },
): boolean | string {
  const made = compiled(expression);
  if ("wrong" in made) return made.wrong;
  budget.left -= made.nodes * budget.longest ** made.depth;
  if (budget.left < 0)
    return "validation failed due to running out of cost budget, no further validation rules will be run";
  try {
    return made.run(variables) === true;
  } catch (error) {
    const why =
      error instanceof EvaluationError ? error.summary : error instanceof Error ? error.message : String(error);
    return `expression '${expression}' resulted in error: ${why.charAt(0).toLowerCase()}${why.slice(1)}`;
  }
}

/** The most elements that any list or object in a JSON value has. */
function longestIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  const members = Object.values(value);
  return members.reduce<number>((most, member) => Math.max(most, longestIn(member)), members.length);
}
