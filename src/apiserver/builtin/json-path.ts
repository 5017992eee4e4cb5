import { equalJson, isObject } from "../patch/json.ts";
import { parseJsonPath, type Step } from "./json-path-parser.ts";

/** Finds all values that a path leads to, in order. */
export type JsonPath = (object: unknown) => unknown[];

/**
 * Compiles the subset of JSONPath that kubectl and CustomResourceDefinition columns use (client-go `util/jsonpath`):
 * `.a.b`, `['a']`, `[0]`, `[-1]`, `[1:3]`, `[0,2]`, `[*]`, `.*`, `..a`, and filters such as
 * `[?(@.type=="Ready")]`. Undefined: the text is no such path. A compiled path never throws.
 */
export function compileJsonPath(path: string): JsonPath | undefined {
  const steps = parseJsonPath(path);
  return steps === undefined ? undefined : (object) => walk(steps, object);
}

/** A value as it stands in a text: strings bare, objects and lists as JSON. */
export function printJsonPath(value: unknown): string {
  if (value === null) return "<nil>";
  return typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
}

function walk(steps: readonly Step[], object: unknown): unknown[] {
  let found: unknown[] = [object];
  for (const step of steps) found = found.flatMap((value) => follow(step, value));
  return found;
}

function follow(step: Step, value: unknown): unknown[] {
  switch (step.is) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "deep":
      return descend(step.name, value);
    case "all":
      return children(value);
    case "index":
      return Array.isArray(value) ? step.at.flatMap((i) => element(value, i)) : [];
    case "slice":
      return Array.isArray(value) ? value.slice(step.from, step.to).filter((_, i) => i % step.step === 0) : [];
    case "filter":
      return (Array.isArray(value) ? value : []).filter((item) => holds(step, item));
  }
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function element(list: readonly unknown[], index: number): unknown[] {
  const value = list.at(index);
  return value === undefined ? [] : [value];
}

function descend(name: string, value: unknown): unknown[] {
  const here = isObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
  return [...here, ...children(value).flatMap((below) => descend(name, below))];
}

function holds(filter: Step & { is: "filter" }, item: unknown): boolean {
  const [left] = walk(filter.left, item);
  if (filter.operator === "exists") return left !== undefined;
  const [right] = "value" in filter.right ? [filter.right.value] : walk(filter.right.path, item);
  if (left === undefined || right === undefined) return false;
  switch (filter.operator) {
    case "==":
      return equalJson(left, right);
    case "!=":
      return !equalJson(left, right);
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
