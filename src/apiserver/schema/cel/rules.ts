import { type Environment, EvaluationError, Optional, type ParseResult } from "@marcbachmann/cel-js";
import { sameJson } from "../../json-value.ts";
import type { FieldError, ValidationRule } from "../../served.ts";
import { forbidden, invalid, printed, required } from "../field-error.ts";
import { oldField, predecessors } from "../lists.ts";
import { isRecord, type Node } from "../node.ts";
import { loopDepth } from "./cost.ts";
import { runtime } from "./environment.ts";
import { parseRule, walk } from "./program.ts";
import { CelValues } from "./value.ts";

/** The CEL rules of a schema, compiled. */
export interface Rules {
  /** Adds the rules that `value` breaks. Rules on parts that did not change are skipped, but for transition rules. */
  check(value: unknown, old: unknown, errors: FieldError[]): void;
}

/** Steps that one rule may take, and all rules on one object together: about 0.1 µs each. */
const STEPS_PER_RULE = 10_000_000;
const STEPS_PER_OBJECT = 30_000_000;

interface Program {
  rule: ValidationRule;
  run: ParseResult;
  message: ParseResult | undefined;
  usesOld: boolean;
  /** Nodes of the syntax tree, and how deep its loops are nested: what bounds its cost. */
  nodes: number;
  depth: number;
}

interface Run {
  values: CelValues;
  stepsLeft: number;
  errors: FieldError[];
}

export function compileRules(root: Node): Rules {
  const programs = new Map<Node, readonly Program[]>();
  compileInto(programs, root);
  return {
    check(value, old, errors) {
      const run: Run = { values: new CelValues(), stepsLeft: STEPS_PER_OBJECT, errors };
      checkNode(programs, root, value, old, "", run);
    },
  };
}

function compileInto(programs: Map<Node, readonly Program[]>, node: Node): void {
  if (!node.hasRules) return;
  programs.set(node, (node.schema["x-kubernetes-validations"] ?? []).map(programOf));
  for (const child of node.properties.values()) compileInto(programs, child);
  if (node.items) compileInto(programs, node.items);
  if (typeof node.additional === "object") compileInto(programs, node.additional);
}

function programOf(rule: ValidationRule): Program {
  let run: ParseResult;
  try {
    run = parseRule(runtime, rule.rule);
  } catch (error) {
    const failed = (() => {
      throw error;
    }) as unknown as ParseResult;
    return { rule, run: failed, message: undefined, usesOld: false, nodes: 1, depth: 0 };
  }
  return {
    rule,
    run,
    message: rule.messageExpression === undefined ? undefined : tryParse(runtime, rule.messageExpression),
    usesOld: mentions(run, "oldSelf"),
    ...loopDepth(run.ast),
  };
}

function tryParse(environment: Environment, expression: string): ParseResult | undefined {
  try {
    return parseRule(environment, expression);
  } catch {
    return undefined;
  }
}

/** Whether a rule reads a variable. */
export function mentions(program: ParseResult, variable: string): boolean {
  let found = false;
  walk(program.ast, (node) => {
    if (node.op === "id" && node.args === variable) found = true;
  });
  return found;
}

function checkNode(
  programs: ReadonlyMap<Node, readonly Program[]>,
  node: Node,
  value: unknown,
  old: unknown,
  path: string,
  run: Run,
): void {
  if (!node.hasRules || value === undefined || value === null) return;
  const own = programs.get(node);
  if (own !== undefined && own.length > 0) {
    const unchanged = old !== undefined && sameJson(value, old);
    for (const program of own) if (program.usesOld || !unchanged) apply(program, node, value, old, path, run);
  }
  if (Array.isArray(value)) {
    if (!node.items?.hasRules) return;
    const before = predecessors(node, old);
    for (let i = 0; i < value.length; i++)
      checkNode(programs, node.items, value[i], before(value[i]), `${path}[${i}]`, run);
  } else if (isRecord(value)) {
    for (const key in value) {
      const property = node.properties.get(key);
      if (property)
        checkNode(programs, property, value[key], oldField(old, key), path === "" ? key : `${path}.${key}`, run);
      else if (typeof node.additional === "object")
        checkNode(programs, node.additional, value[key], oldField(old, key), `${path}[${key}]`, run);
    }
  }
}

function apply(program: Program, node: Node, value: unknown, old: unknown, path: string, run: Run): void {
  const { rule } = program;
  if (program.usesOld && old === undefined && rule.optionalOldSelf !== true) return;
  if (run.stepsLeft <= 0) return;
  const self = run.values.of(node, value);
  const before = old === undefined ? undefined : run.values.of(node, old);
  const steps = program.nodes * run.values.longest ** program.depth;
  run.stepsLeft -= steps;
  if (steps > STEPS_PER_RULE || run.stepsLeft <= 0) {
    run.stepsLeft = 0;
    const budget = "validation failed due to running out of cost budget, no further validation rules will be run";
    return void run.errors.push(invalid(path, kindOf(node), budget));
  }
  const oldSelf = rule.optionalOldSelf === true ? Optional.of(before) : before;
  const variables = oldSelf === undefined ? { self } : { self, oldSelf };
  try {
    if (program.run(variables) === true) return;
  } catch (error) {
    const detail =
      error instanceof EvaluationError ? error.summary : error instanceof Error ? error.message : String(error);
    return void run.errors.push(
      invalid(path, kindOf(node), `${lowerFirst(detail)} evaluating rule: ${messageOf(rule)}`),
    );
  }
  run.errors.push(broken(program, node, variables, path));
}

function broken(program: Program, node: Node, variables: object, path: string): FieldError {
  const { rule } = program;
  const text = computed(program.message, variables) ?? messageOf(rule);
  const at = rule.fieldPath === undefined ? path : joinPath(path, rule.fieldPath);
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(at, text);
    case "FieldValueRequired":
      return required(at, text);
    case "FieldValueDuplicate":
      return {
        field: at,
        reason: "FieldValueDuplicate",
        message: `Duplicate value: ${printed(kindOf(node))}: ${text}`,
      };
    default:
      return invalid(at, kindOf(node), text);
  }
}

/** What `messageExpression` says, unless it fails or says nothing printable in one line. */
function computed(program: ParseResult | undefined, variables: object): string | undefined {
  if (program === undefined) return undefined;
  try {
    const text: unknown = program(variables);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(rule: ValidationRule): string {
  return rule.message === undefined || rule.message === "" ? `failed rule: ${rule.rule.trim()}` : rule.message.trim();
}

/** `.spec.x` or `['spec']['x']` below `path`. */
function joinPath(path: string, fieldPath: string): string {
  const below = fieldPath.replace(/\[['"]([^'"]*)['"]\]/g, ".$1").replace(/^\./, "");
  return path === "" ? below : `${path}.${below}`;
}

function kindOf(node: Node): string {
  return node.intOrString ? "" : (node.schema.type ?? "object");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
