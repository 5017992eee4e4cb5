import { sameJson } from "@slipway/base";
import { isRecord } from "../json/value.ts";
import { parseJsonPath, type Step } from "./json-path-parser.ts";

/** The values that a path leads to, in order, each looked for when it is asked for. */
export type JsonPath = (object: unknown) => Iterable<unknown>;

/**
 * Compiles the subset of JSONPath that kubectl and CustomResourceDefinition columns use (client-go `util/jsonpath`):
 * `.a.b`, `['a']`, `[0]`, `[-1]`, `[1:3]`, `[0,2]`, `[*]`, `.*`, `..a`, and filters such as
 * `[?(@.type=="Ready")]`. Undefined: the text is no such path. A compiled path never throws.
 */
export function compileJsonPath(path: string): JsonPath | undefined {
  const steps = parseJsonPath(path);
  return steps === undefined ? undefined : (object) => walk(steps, 0, object, { left: MAX_VISITED });
}

/** A value as it stands in a text: strings bare, objects and lists as JSON. */
export function printJsonPath(value: unknown): string {
  if (value === null) return "<nil>";
  return typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Several `..` in a path find the same values again and again: beyond this many nothing is looked for. */
const MAX_VISITED = 1_000_000;

interface Budget {
  left: number;
}

function first(steps: readonly Step[], object: unknown, budget: Budget): unknown {
  const [found] = walk(steps, 0, object, budget);
  return found;
}

/** All values that the steps from `at` on lead to, in order, found as they are asked for. */
function* walk(steps: readonly Step[], at: number, value: unknown, budget: Budget): Generator<unknown> {
  if (budget.left-- <= 0) return;
  const step = steps[at];
  if (step === undefined) yield value;
  else for (const next of follow(step, value, budget)) yield* walk(steps, at + 1, next, budget);
}

function follow(step: Step, value: unknown, budget: Budget): Iterable<unknown> {
  switch (step.is) {
    case "field":
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "deep":
      return descend(step.name, value, budget);
    case "all":
      return children(value);
    case "index":
      return Array.isArray(value) ? step.at.flatMap((i) => element(value, i)) : [];
    case "slice":
      return Array.isArray(value) ? value.slice(step.from, step.to).filter((_, i) => i % step.step === 0) : [];
    case "filter":
      return holding(step, Array.isArray(value) ? value : [], budget);
  }
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function element(list: readonly unknown[], index: number): unknown[] {
  const value = list.at(index);
  return value === undefined ? [] : [value];
}

function* descend(name: string, value: unknown, budget: Budget): Generator<unknown> {
  if (budget.left-- <= 0) return;
  if (isRecord(value) && Object.hasOwn(value, name)) yield value[name];
  for (const below of children(value)) if (typeof below === "object") yield* descend(name, below, budget);
}

function* holding(step: Step & { is: "filter" }, list: readonly unknown[], budget: Budget): Generator<unknown> {
  for (const item of list) if (holds(step, item, budget)) yield item;
}

function holds(filter: Step & { is: "filter" }, item: unknown, budget: Budget): boolean {
  const left = first(filter.left, item, budget);
  if (filter.operator === "exists") return left !== undefined;
  const right = "value" in filter.right ? filter.right.value : first(filter.right.path, item, budget);
  if (left === undefined || right === undefined) return false;
  switch (filter.operator) {
    case "==":
      return sameJson(left, right);
    case "!=":
      return !sameJson(left, right);
    default:
      return ordered(left, right, filter.operator);
  }
}

function ordered(left: unknown, right: unknown, operator: "<" | "<=" | ">" | ">="): boolean {
  const comparable =
    (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!comparable) return false;
  const [a, b] = [left as number, right as number];
  return operator === "<" ? a < b : operator === "<=" ? a <= b : operator === ">" ? a > b : a >= b;
}
