import { type Expression, ExpressionError, type Item, type MapEntry, NOWHERE } from "./expression.ts";
import { numberOf, type Token, tokens } from "./lexer.ts";
import { expanded, MacroError, REPEATING } from "./macros.ts";

/** Words that name nothing. */
const RESERVED = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);
/** Binary operators that bind tighter than `&&`, the loosest first; all group from the left. */
const BINARY: readonly (readonly string[])[] = [
  ["==", "!=", "<", "<=", ">", ">=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];
/** How deep an expression may be nested: in parentheses, and by operators, selections and calls of members. */
const MAX_DEPTH = 250;
/** Parts of an expression after macros that repeat an operand; more than an expression of the greatest length has. */
const MAX_PARTS = 100_000;

/** Parses an expression and expands its macros. Throws `ExpressionError`. */
export function parse(source: string): Expression {
  const parser = new Parser(source);
  return parser.whole();
}

interface Extent {
  readonly depth: number;
  readonly parts: number;
}

/** The function that an operator calls. */
function operatorName(operator: string): string {
  return operator === "in" ? "@in" : `_${operator}_`;
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #extents = new Map<Expression, Extent>();
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokens(source);
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#peek.kind !== "end") this.#unexpected();
    return expression;
  }

  get #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #fail(at: number, message: string): never {
    throw new ExpressionError(this.#source, [{ at, message }]);
  }

  #unexpected(): never {
    const { at, kind, text } = this.#peek;
    this.#fail(at, `Syntax error: ${kind === "end" ? "mismatched" : "extraneous"} input '${text}'`);
  }

  #is(operator: string): boolean {
    return this.#peek.kind === "operator" && this.#peek.text === operator;
  }

  #takes(operator: string): Token | undefined {
    return this.#is(operator) ? this.#tokens[this.#next++] : undefined;
  }

  #needs(operator: string): Token {
    return this.#takes(operator) ?? this.#unexpected();
  }

  #name(): Token {
    if (this.#peek.kind !== "name") this.#unexpected();
    return this.#tokens[this.#next++]!;
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#fail(NOWHERE, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.#logical("||");
    const mark = this.#takes("?");
    let result = condition;
    if (mark !== undefined) {
      const yes = this.#logical("||");
      this.#needs(":");
      const parts = [condition, yes, this.#expression()];
      result = this.#made(call(mark.at, "_?_:_", parts), parts, 1);
    }
    this.#depth--;
    return result;
  }

  #logical(operator: "||" | "&&"): Expression {
    const below = () => (operator === "||" ? this.#logical("&&") : this.#binary(0));
    const operands = [below()];
    const operators: Token[] = [];
    for (let token = this.#takes(operator); token !== undefined; token = this.#takes(operator)) {
      operators.push(token);
      operands.push(below());
    }
    return operators.length === 0 ? operands[0]! : this.#balanced(operands, operators);
  }

  /** Operators of one kind as a tree that is no deeper than it must be, as cel-go makes it. */
  #balanced(operands: readonly Expression[], operators: readonly Token[]): Expression {
    const middle = operators.length >> 1;
    const { at, text } = operators[middle]!;
    const side = (from: number, to: number): Expression =>
      from === to ? operands[from]! : this.#balanced(operands.slice(from, to + 1), operators.slice(from, to));
    const parts = [side(0, middle), side(middle + 1, operators.length)];
    return this.#made(call(at, operatorName(text), parts), parts, 0);
  }

  /** Keeps the extent of an expression of these parts, and refuses what is too deep or has too many of them. */
  #made(expression: Expression, parts: readonly Expression[], deeper: 0 | 1): Expression {
    const extents = parts.map((part) => this.#extents.get(part) ?? { depth: 0, parts: 1 });
    const depth = deeper + extents.reduce((most, extent) => Math.max(most, extent.depth), 0);
    const all = 1 + extents.reduce((sum, extent) => sum + extent.parts, 0);
    if (depth > MAX_DEPTH) this.#fail(NOWHERE, "max recursion depth exceeded");
    if (all > MAX_PARTS) this.#fail(NOWHERE, `expression has more than ${MAX_PARTS} parts`);
    this.#extents.set(expression, { depth, parts: all });
    return expression;
  }

  #binary(level: number): Expression {
    const operators = BINARY[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#peek.kind === "operator" && operators.includes(this.#peek.text)) {
      const { text, at } = this.#tokens[this.#next++]!;
      const parts = [left, this.#binary(level + 1)];
      left = this.#made(call(at, operatorName(text), parts), parts, 1);
    }
    return left;
  }

  #unary(): Expression {
    const operator = this.#is("!") ? "!" : "-";
    const first = this.#takes(operator);
    if (first === undefined) return this.#members(this.#primary());
    const number = this.#peek;
    if (operator === "-" && number.kind === "literal" && /^[0-9.]/.test(number.text)) {
      this.#next++;
      return this.#members(this.#number(`-${number.text}`, first.at));
    }
    let twice = false;
    while (this.#takes(operator) !== undefined) twice = !twice;
    const operand = this.#members(this.#primary());
    return twice ? operand : this.#made(call(first.at, operator === "!" ? "!_" : "-_", [operand]), [operand], 0);
  }

  #members(start: Expression): Expression {
    let left = start;
    for (;;) {
      const dot = this.#takes(".");
      if (dot !== undefined) {
        const optional = this.#takes("?");
        const name = this.#name().text;
        const open = optional === undefined ? this.#takes("(") : undefined;
        const { at } = dot;
        if (open !== undefined) left = this.#called(open.at, name, left);
        else if (optional === undefined)
          left = this.#made({ kind: "select", at, operand: left, field: name, test: false }, [left], 1);
        else left = this.#made(call(at, "_?._", [left, { kind: "literal", at, value: name }]), [left], 1);
        continue;
      }
      const open = this.#takes("[");
      if (open === undefined) return left;
      const optional = this.#takes("?");
      const parts = [left, this.#expression()];
      this.#needs("]");
      left = this.#made(call(open.at, optional === undefined ? "_[_]" : "_[?_]", parts), parts, 1);
    }
  }

  #called(at: number, fn: string, target: Expression | undefined): Expression {
    const args: Expression[] = [];
    if (!this.#is(")"))
      do args.push(this.#expression());
      while (this.#takes(",") !== undefined);
    this.#needs(")");
    const plain = call(at, fn, args, target);
    const repeated = target !== undefined && REPEATING.has(fn) ? [target] : [];
    const parts = target === undefined ? args : [target, ...repeated, ...args];
    this.#made(plain, parts, target === undefined ? 0 : 1);
    try {
      const macro = expanded(at, fn, target, args);
      return macro === undefined ? plain : this.#made(macro, parts, target === undefined ? 0 : 1);
    } catch (error) {
      if (error instanceof MacroError) this.#fail(error.at, error.message);
      throw error;
    }
  }

  #number(text: string, at: number): Expression {
    const value = numberOf(text);
    if (value === undefined)
      this.#fail(at, `invalid ${/[uU]$/.test(text) ? "uint" : /^-?(0x|\d+$)/.test(text) ? "int" : "double"} literal`);
    return { kind: "literal", at, value };
  }

  #primary(): Expression {
    const token = this.#peek;
    if (token.kind === "literal") {
      this.#next++;
      return /^[0-9.]/.test(token.text)
        ? this.#number(token.text, token.at)
        : { kind: "literal", at: token.at, value: token.value! };
    }
    if (this.#takes("(") !== undefined) {
      const inner = this.#expression();
      this.#needs(")");
      return inner;
    }
    if (this.#takes("[") !== undefined) return this.#list(token.at);
    if (this.#takes("{") !== undefined) return this.#map(token.at);
    this.#takes(".");
    const name = this.#name();
    if (RESERVED.has(name.text)) this.#fail(name.at, `reserved identifier: ${name.text}`);
    const open = this.#takes("(");
    if (open !== undefined) return this.#called(open.at, name.text, undefined);
    return this.#message(name) ?? { kind: "name", at: name.at, name: name.text };
  }

  #list(at: number): Expression {
    const items: Item[] = [];
    while (!this.#is("]")) {
      const optional = this.#takes("?") !== undefined;
      items.push({ optional, value: this.#expression() });
      if (this.#takes(",") === undefined) break;
    }
    this.#needs("]");
    return this.#made(
      { kind: "list", at, items },
      items.map(({ value }) => value),
      0,
    );
  }

  #map(at: number): Expression {
    const entries: MapEntry[] = [];
    while (!this.#is("}")) {
      const optional = this.#takes("?") !== undefined;
      const key = this.#expression();
      this.#needs(":");
      entries.push({ optional, key, value: this.#expression() });
      if (this.#takes(",") === undefined) break;
    }
    this.#needs("}");
    return this.#made(
      { kind: "map", at, entries },
      entries.flatMap(({ key, value }) => [key, value]),
      0,
    );
  }

  /** `a.b.Type{field: value}`, if that is what follows. */
  #message(first: Token): Expression | undefined {
    let end = this.#next;
    let type = first.text;
    while (this.#tokens[end]!.text === "." && this.#tokens[end + 1]!.kind === "name") {
      type += `.${this.#tokens[end + 1]!.text}`;
      end += 2;
    }
    const brace = this.#tokens[end]!;
    if (brace.kind !== "operator" || brace.text !== "{") return undefined;
    this.#next = end + 1;
    const fields: Expression[] = [];
    while (!this.#is("}")) {
      this.#takes("?");
      this.#name();
      this.#needs(":");
      fields.push(this.#expression());
      if (this.#takes(",") === undefined) break;
    }
    this.#needs("}");
    return this.#made({ kind: "message", at: brace.at, type, fields }, fields, 0);
  }
}

function call(at: number, fn: string, args: readonly Expression[], target?: Expression): Expression {
  return { kind: "call", at, fn, target, args };
}
