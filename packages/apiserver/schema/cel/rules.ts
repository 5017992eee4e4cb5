import { CelError, type Compiled, compile, Meter, Optional, TooCostly, type Value } from "@slipway/cel";
import { sameInPasses } from "../../json/passes.ts";
import { Pace, type Passes } from "../../json/turns.ts";
import { isRecord } from "../../json/value.ts";
import { forbidden, invalid, printed, required } from "../../model/field-error.ts";
import type { FieldError, ValidationRule } from "../../model/served.ts";
import { oldField, predecessors } from "../lists.ts";
import type { Node } from "../node.ts";
import { variables } from "./check.ts";
import { declared } from "./declared.ts";
import { CelValues } from "./value.ts";

/** The CEL rules of a schema, compiled. */
export interface Rules {
  /** In passes: adds the rules that `value` breaks. What did not change may break them, but for transition rules, and is `warned` of. */
  check(value: unknown, old: unknown, errors: FieldError[], warned: string[]): Passes<void>;
}

/** What one evaluation, and all on one object together, may cost. */
const MAX_COST = 1_000_000;
const MAX_OBJECT_COST = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

interface Program {
  readonly rule: ValidationRule;
  readonly compiled: Compiled | { readonly wrong: string };
  readonly message: Compiled | undefined;
}

/** One walk over an object. */
interface Run {
  readonly programs: ReadonlyMap<Node, readonly Program[]>;
  readonly values: CelValues;
  readonly errors: FieldError[];
  readonly warned: Set<string>;
  readonly pace: Pace;
  /** What stays of the budget: nothing more is checked once it is used up. */
  left: number;
  /** Where the walk is. */
  path: string;
  /** What the value there is part of is as it was. Counts where the value itself has no old one to be compared with. */
  within: boolean;
}

/** A value that rules are for. */
interface Subject {
  readonly node: Node;
  readonly value: unknown;
  readonly old: unknown;
  readonly unchanged: boolean;
  readonly path: string;
}

/** In passes: compiles the rules of a schema and of all below it. A rule that does not compile is an error of each object that it should check. */
export function* compileRules(root: Node): Passes<Rules> {
  const programs = new Map<Node, readonly Program[]>();
  yield* compileInto(programs, root, new Pace(), true);
  return {
    *check(value, old, errors, warned) {
      const run: Run = {
        programs,
        values: new CelValues(),
        errors,
        warned: new Set(),
        pace: new Pace(),
        left: MAX_OBJECT_COST,
        path: "",
        within: false,
      };
      yield* checkNode(run, root, value, old);
      for (const text of run.warned) warned.push(text);
    },
  };
}

/** What compiling a rule costs, in steps of a walk, beside those for each of its letters. */
const STEPS_A_RULE = 50;

function* compileInto(
  programs: Map<Node, readonly Program[]>,
  node: Node,
  pace: Pace,
  whole = node.embedded,
): Passes<void> {
  if (pace.isOver()) yield;
  if (!node.hasRules) return;
  const rules = node.schema["x-kubernetes-validations"] ?? [];
  const self = rules.length === 0 ? undefined : declared(node, whole);
  if (self !== undefined) {
    const made: Program[] = [];
    for (const rule of rules) {
      const { messageExpression = "" } = rule;
      if (pace.isOver(STEPS_A_RULE + rule.rule.length + messageExpression.length)) yield;
      const known = variables(self.type, rule.optionalOldSelf === true);
      const message = messageExpression === "" ? undefined : compiledOr(messageExpression, known);
      made.push({
        rule,
        compiled: compiledOr(rule.rule, known),
        message: message !== undefined && "run" in message ? message : undefined,
      });
    }
    programs.set(node, made);
  }
  for (const child of node.properties.values()) yield* compileInto(programs, child, pace);
  if (node.items) yield* compileInto(programs, node.items, pace);
  if (typeof node.additional === "object") yield* compileInto(programs, node.additional, pace);
}

function compiledOr(source: string, known: Parameters<typeof compile>[1]): Program["compiled"] {
  try {
    return compile(source, known);
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

function* checkNode(run: Run, node: Node, value: unknown, old: unknown): Passes<void> {
  if (run.pace.isOver()) yield;
  if (!node.hasRules || value === undefined || value === null || run.left < 0) return;
  const { path, within } = run;
  const unchanged = old === undefined ? within : yield* sameInPasses(value, old, run.pace);
  const own = run.programs.get(node);
  if (own !== undefined) yield* checkOwn(run, own, { node, value, old, unchanged, path });
  if (run.left < 0) return;
  run.within = unchanged;
  if (Array.isArray(value)) {
    if (node.items?.hasRules) {
      const before = predecessors(node, old);
      for (const [i, item] of value.entries()) {
        run.path = `${path}[${i}]`;
        yield* checkNode(run, node.items, item, before(item));
      }
    }
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      const property = node.properties.get(key);
      const child = property ?? node.additional;
      if (typeof child !== "object") continue;
      run.path = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      yield* checkNode(run, child, item, oldField(old, key));
    }
  }
  run.path = path;
  run.within = within;
}

/** Checks the rules of the value itself. */
function* checkOwn(run: Run, programs: readonly Program[], subject: Subject): Passes<void> {
  for (const program of programs) {
    const before = run.left;
    apply(run, program, subject);
    if (run.left < 0) return;
    if (run.pace.isOver(1 + before - run.left)) yield;
  }
}

function apply(run: Run, program: Program, subject: Subject): void {
  const { node, old, unchanged, path } = subject;
  const { rule, compiled } = program;
  const wrong = (why: string): void => {
    run.errors.push(invalid(path, kindOf(node), why));
  };
  if ("wrong" in compiled) return void wrong(`rule compile error: compilation failed: ${compiled.wrong}`);
  const usesOld = compiled.reads.has("oldSelf");
  if (usesOld && old === undefined && rule.optionalOldSelf !== true) return;
  const seen = variablesOf(run, rule, subject, usesOld);
  const meter = new Meter(MAX_COST);
  let result: Value | CelError | TooCostly;
  try {
    result = compiled.run(seen, meter);
  } catch (error) {
    if (!(error instanceof CelError || error instanceof TooCostly)) throw error;
    result = error;
  }
  if (meter.spent > run.left) {
    run.left = -1;
    return void wrong("validation failed due to running out of cost budget, no further validation rules will be run");
  }
  run.left -= meter.spent;
  if (result === true) return;
  if (result instanceof TooCostly) {
    run.left = -1;
    return void wrong(
      `'${result.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${messageOf(rule)}`,
    );
  }
  if (result instanceof CelError)
    return void wrong(
      result.message.startsWith("no such overload")
        ? `'${result.message}': call arguments did not match a supported operator, function or macro signature for rule: ${messageOf(rule)}`
        : `${result.message} evaluating rule: ${messageOf(rule)}`,
    );
  const error = broken(run, program, subject, seen);
  if (usesOld || !unchanged) return void run.errors.push(error);
  run.warned.add(`${error.field}: ${error.message}`);
}

function variablesOf(
  { values }: Run,
  rule: ValidationRule,
  { node, value, old }: Subject,
  usesOld: boolean,
): Record<string, Value> {
  const self = values.of(node, value);
  const before = !usesOld || old === undefined || old === null ? undefined : values.of(node, old);
  if (rule.optionalOldSelf === true) return { self, oldSelf: new Optional(before) };
  return before === undefined ? { self } : { self, oldSelf: before };
}

function broken(
  run: Run,
  { rule, message }: Program,
  { node, value, path }: Subject,
  seen: Record<string, Value>,
): FieldError {
  const at = rule.fieldPath === undefined || rule.fieldPath === "" ? path : joinPath(path, rule.fieldPath);
  const computed = message === undefined ? undefined : messageFrom(run, message, rule, seen);
  if (typeof computed === "object") {
    run.left = -1;
    return invalid(at, kindOf(node), computed.wrong);
  }
  const text = computed ?? (rule.message ? rule.message.trim() : `failed rule: ${rule.rule.trim()}`);
  const isWhole = node.schema.type === "object" || node.schema.type === "array";
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(at, text);
    case "FieldValueRequired":
      return required(at, text);
    case "FieldValueDuplicate":
      return {
        field: at,
        reason: "FieldValueDuplicate",
        message: `Duplicate value${isWhole ? "" : `: ${printed(value)}`}`,
      };
    default:
      return isWhole
        ? { field: at, reason: "FieldValueInvalid", message: `Invalid value: ${text}` }
        : invalid(at, value, text);
  }
}

/** What `messageExpression` says, unless it fails or says nothing that fits in one line. */
function messageFrom(
  run: Run,
  message: Compiled,
  { messageExpression = "" }: ValidationRule,
  seen: Record<string, Value>,
): string | { wrong: string } | undefined {
  const meter = new Meter(MAX_COST);
  let text: Value | undefined;
  let tooCostly = false;
  try {
    text = message.run(seen, meter);
  } catch (error) {
    if (!(error instanceof CelError || error instanceof TooCostly)) throw error;
    tooCostly = error instanceof TooCostly;
  }
  if (meter.spent > run.left)
    return {
      wrong:
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
    };
  if (tooCostly)
    return {
      wrong: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(messageExpression)}`,
    };
  run.left -= meter.spent;
  const trimmed = typeof text === "string" ? text.trim() : "";
  return trimmed === "" || trimmed.includes("\n") || Buffer.byteLength(trimmed) > MAX_MESSAGE_BYTES
    ? undefined
    : trimmed;
}

function messageOf({ rule, message }: ValidationRule): string {
  return (message || rule).trim();
}

/** `.spec.x` or `['spec']['x']` below `path`. */
function joinPath(path: string, fieldPath: string): string {
  const below = fieldPath.replace(/\[['"]([^'"]*)['"]\]/g, ".$1").replace(/^\./, "");
  return path === "" ? below : `${path}.${below}`;
}

function kindOf(node: Node): string {
  return node.intOrString ? "" : (node.schema.type ?? "object");
}
