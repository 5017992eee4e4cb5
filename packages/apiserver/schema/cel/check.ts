import {
  BOOL,
  type Compiled,
  compile,
  type Declared,
  ExpressionError,
  optionalOf,
  STRING,
  type Type,
} from "@slipway/cel";
import { Pace, type Passes } from "../../json/turns.ts";
import { forbidden, invalid } from "../../model/field-error.ts";
import type { FieldError, ValidationRule } from "../../model/served.ts";
import type { Node } from "../node.ts";
import { declared, mostInRequest } from "./declared.ts";

/** What one expression, and all of one schema, may cost by their estimates. */
const MAX_COST = 10_000_000;
const MAX_SCHEMA_COST = 100_000_000;
/** What it takes to compile a rule, in steps of a walk. */
const STEPS_A_RULE = 100;

/** The variables of a rule on values of this type. */
export function variables(self: Type, optionalOld: boolean): ReadonlyMap<string, Type> {
  return new Map([
    ["self", self],
    ["oldSelf", optionalOld ? optionalOf(self) : self],
  ]);
}

/** A rule, where it stands, and what it is for. */
interface Placed {
  rule: ValidationRule;
  at: string;
  self: Declared;
}

/** Checks the rules of one schema: that they compile, and what they may cost, each and together. */
export class RuleCheck {
  readonly #root: Node;
  /** What was found wrong with the schema so far. */
  readonly errors: FieldError[];
  /** Of the walk over the schema. */
  readonly pace = new Pace();
  #total = 0;
  #expensive: { at: string; cost: number }[] = [];

  /** `root`: that of the schema. What is found wrong is added to `errors`. */
  constructor(root: Node, errors: FieldError[]) {
    this.#root = root;
    this.errors = errors;
  }

  /** Checks the rules of a node. `copies`: how many values of the node one object may hold, unless only the size of a request limits that. */
  *rules(node: Node, path: string, copies: number | undefined): Passes<void> {
    const self = declared(node, node === this.#root || node.embedded);
    if (self === undefined) return;
    for (const [i, rule] of (node.schema["x-kubernetes-validations"] ?? []).entries()) {
      if (this.pace.isOver(STEPS_A_RULE)) yield;
      this.#rule({ rule, at: `${path}.x-kubernetes-validations[${i}]`, self }, copies ?? mostInRequest(self));
    }
  }

  #rule(placed: Placed, copies: number): void {
    const { rule, at, self } = placed;
    const known = variables(self.type, rule.optionalOldSelf === true);
    const compiled = attempt(rule.rule, known);
    if (typeof compiled === "string")
      this.errors.push(invalid(`${at}.rule`, asInternal(rule), `compilation failed: ${compiled}`));
    else if (compiled.type !== BOOL)
      this.errors.push(invalid(`${at}.rule`, asInternal(rule), "cel expression must evaluate to a bool"));
    else if (compiled.failing !== undefined)
      this.errors.push(invalid(`${at}.rule`, asInternal(rule), `program instantiation failed: ${compiled.failing}`));
    else {
      this.#cost(compiled.cost(self) * copies, "estimated rule cost", `${at}.rule`);
      if (rule.messageExpression) this.#message(placed, rule.messageExpression, known);
      if (compiled.reads.has("oldSelf")) return;
    }
    if (rule.optionalOldSelf !== undefined)
      this.errors.push(
        invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
      );
  }

  #message({ rule, at, self }: Placed, source: string, known: ReadonlyMap<string, Type>): void {
    const compiled = attempt(source, known);
    const wrong = (why: string): void => {
      this.errors.push(invalid(`${at}.messageExpression`, asInternal(rule), why));
    };
    if (typeof compiled === "string") wrong(`messageExpression compilation failed: ${compiled}`);
    else if (compiled.type !== STRING) wrong("messageExpression must evaluate to a string");
    else if (compiled.failing !== undefined) wrong(`messageExpression instantiation failed: ${compiled.failing}`);
    else this.#cost(compiled.cost(self), "estimated messageExpression cost", `${at}.messageExpression`);
  }

  #cost(cost: number, name: string, at: string): void {
    if (cost > MAX_COST) this.errors.push(forbidden(at, excessive(name, cost / MAX_COST)));
    this.#total += cost;
    if (cost < MAX_SCHEMA_COST / 100) return;
    this.#expensive = [...this.#expensive, { at, cost }].toSorted((a, b) => b.cost - a.cost).slice(0, 4);
  }

  /** Reports what all rules cost together, once each was checked. */
  together(path: string): void {
    if (this.#total <= MAX_SCHEMA_COST) return;
    for (const { at } of this.#expensive)
      this.errors.push(
        forbidden(at, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
      );
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    this.errors.push(forbidden(path, excessive(name, this.#total / MAX_SCHEMA_COST)));
  }
}

function attempt(source: string, known: ReadonlyMap<string, Type>): Compiled | string {
  try {
    return compile(source, known);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

function excessive(name: string, factor: number): string {
  const by = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${name} exceeds budget by factor of ${by} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** A rule as upstream prints it. */
function asInternal({
  rule,
  message = "",
  messageExpression = "",
  reason,
  fieldPath = "",
  optionalOldSelf,
}: ValidationRule) {
  return {
    Rule: rule,
    Message: message,
    MessageExpression: messageExpression,
    Reason: reason ?? null,
    FieldPath: fieldPath,
    OptionalOldSelf: optionalOldSelf ?? null,
  };
}

/** How many values below a node one object may hold for each of it; undefined when only the size of a request limits that. */
export function copiesBelow({ schema }: Node): number | undefined {
  if (schema.type === "array") return schema.maxItems;
  return schema.type === "object" && schema.additionalProperties !== undefined ? schema.maxProperties : 1;
}
