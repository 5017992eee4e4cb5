import { TypeError as CelTypeError, type Environment, ParseError, type ParseResult } from "@marcbachmann/cel-js";
import type { Node } from "../node.ts";
import { excess } from "./cost.ts";
import { runtime, typing } from "./environment.ts";
import { escapeField, isReachable } from "./names.ts";
import { parseRule } from "./program.ts";
import { mentions } from "./rules.ts";

/** Checks the expressions of one schema, given the types that the schema declares. */
export interface ExpressionCheck {
  /** What is wrong with a rule on `node`, or undefined. `copies`: how many values of the node one object may hold. `optionalOld`: `oldSelf` may be missing, and says so. */
  rule(node: Node, expression: string, copies: number, optionalOld?: boolean): string | undefined;
  /** Whether a rule that compiles reads `oldSelf`. */
  usesOld(expression: string): boolean;
  /** The same as `rule` for an expression that gives a text. */
  message(node: Node, expression: string): string | undefined;
}

export function expressionCheck(): ExpressionCheck {
  const types = new Types();
  const check = (
    node: Node,
    expression: string,
    wanted: string,
    copies: number,
    optionalOld = false,
  ): string | undefined => {
    let program: ParseResult;
    try {
      program = parseRule(types.environmentFor(node, optionalOld), expression);
    } catch (error) {
      return `compilation failed: ${described(error, expression)}`;
    }
    const result = program.check();
    if (!result.valid) return `compilation failed: ${described(result.error, expression)}`;
    if (result.type !== wanted && result.type !== "dyn") return `must evaluate to ${wanted}`;
    const factor = excess(program.ast, node, copies);
    if (factor <= 1) return undefined;
    const by = factor > 100 ? "more than 100x" : `${factor.toFixed(1)}x`;
    return `estimated rule cost exceeds budget by factor of ${by} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
  };
  return {
    rule: (node, expression, copies, optionalOld) => check(node, expression, "bool", copies, optionalOld),
    usesOld: (expression) => mentions(parseRule(runtime, expression), "oldSelf"),
    message(node, expression) {
      const problem = check(node, expression, "string", 1);
      if (problem === "must evaluate to string") return "messageExpression must evaluate to a string";
      return problem?.replace(/^compilation failed/, "messageExpression compilation failed");
    },
  };
}

/** The CEL types of a schema's objects, each declared once. */
class Types {
  #environment: Environment = typing();
  #names = new Map<Node, string>();

  environmentFor(node: Node, optionalOld: boolean): Environment {
    const type = this.#typeOf(node);
    // The registry is closed once cloned, and further types go into a clone of it.
    const own = this.#environment.clone();
    own.registerVariable("self", type).registerVariable("oldSelf", optionalOld ? `optional<${type}>` : "dyn");
    this.#environment = this.#environment.clone();
    return own;
  }

  #typeOf(node: Node): string {
    const { type, format } = node.schema;
    if (node.nullable || node.intOrString) return "dyn";
    switch (type) {
      case "boolean":
        return "bool";
      case "integer":
        return "int";
      case "number":
        return "double";
      case "string":
        if (format === "byte") return "bytes";
        if (format === "date" || format === "date-time" || format === "datetime") return "google.protobuf.Timestamp";
        return format === "duration" ? "google.protobuf.Duration" : "string";
      case "array":
        return node.items ? `list<${this.#typeOf(node.items)}>` : "list<dyn>";
      case "object":
        if (typeof node.additional === "object") return `map<string, ${this.#typeOf(node.additional)}>`;
        return node.additional === "any" || node.properties.size === 0 ? "dyn" : this.#objectType(node);
      default:
        return "dyn";
    }
  }

  #objectType(node: Node): string {
    const known = this.#names.get(node);
    if (known) return known;
    const fields: Record<string, string> = {};
    for (const [name, child] of node.properties) if (isReachable(name)) fields[escapeField(name)] = this.#typeOf(child);
    const name = `Object${this.#names.size}`;
    this.#environment.registerType(name, { ctor: class {}, fields });
    this.#environment.registerOperator(`${name} == ${name}`, () => false);
    this.#environment.registerOperator(`${name} == null`, () => false);
    this.#names.set(node, name);
    return name;
  }
}

/** The error as cel-go words and marks it. */
export function described(error: unknown, source: string): string {
  if (!(error instanceof ParseError || error instanceof CelTypeError))
    return error instanceof Error ? error.message : String(error);
  const at = error.range?.start ?? 0;
  const before = source.slice(0, at).split("\n");
  const line = source.split("\n")[before.length - 1] ?? "";
  const column = before.at(-1)?.length ?? 0;
  return `ERROR: <input>:${before.length}:${column + 1}: ${reworded(error)}\n | ${line}\n | ${".".repeat(column)}^`;
}

/** How cel-go writes an optional type. */
function inGo(type: string): string {
  return type.replace(/^optional<(.*)>$/, "optional_type($1)");
}

function reworded(error: ParseError | CelTypeError): string {
  const text = error.summary;
  if (error instanceof ParseError) return `Syntax error: ${text}`;
  if (error.code === "no_such_key") return `undefined field '${text.slice("No such key: ".length)}'`;
  if (error.code === "unknown_variable")
    return `undeclared reference to '${text.slice("Unknown variable: ".length)}' (in container '')`;
  if (error.code === "no_such_overload") {
    const parts = /^no such overload: (\S+) (\S+) (\S+)$/.exec(text);
    if (parts)
      return `found no matching overload for '_${parts[2]}_' applied to '(${inGo(parts[1]!)}, ${inGo(parts[3]!)})'`;
  }
  return text;
}
