import { type Expression, ExpressionError, type Item, type MapEntry } from "./expression.ts";
import { numberOf, type Token, tokens } from "./lexer.ts";
import { expanded, MacroError } from "./macros.ts";

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
/** How deep an expression may be nested. */
const MAX_DEPTH = 200;

/** Parses an expression and expands its macros. Throws `ExpressionError`. */
export function parse(source: string): Expression {
  const parser = new Parser(source);
  return parser.whole();
}

/** The function that an operator calls. */
function operatorName(operator: string): string {
  return operator === "in" ? "@in" : `_${operator}_`;
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
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
    if (++this.#depth > MAX_DEPTH) this.#fail(this.#peek.at, `expression recursion limit exceeded: ${MAX_DEPTH}`);
    const condition = this.#logical("||");
    const mark = this.#takes("?");
    let result = condition;
    if (mark !== undefined) {
      const yes = this.#logical("||");
      this.#needs(":");
      result = call(mark.at, "_?_:_", [condition, yes, this.#expression()]);
    }
    this.#depth--;
    return result;
  }

  #logical(operator: "||" | "&&"): Expression {
    const below = () => (operator === "||" ? this.#logical("&&") : this.#binary(0));
    let left = below();
    for (let token = this.#takes(operator); token !== undefined; token = this.#takes(operator))
      left = call(token.at, operatorName(operator), [left, below()]);
    return left;
  }

  #binary(level: number): Expression {
    const operators = BINARY[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#peek.kind === "operator" && operators.includes(this.#peek.text)) {
      const { text, at } = this.#tokens[this.#next++]!;
      left = call(at, operatorName(text), [left, this.#binary(level + 1)]);
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
    return twice ? operand : call(first.at, operator === "!" ? "!_" : "-_", [operand]);
  }

  #members(start: Expression): Expression {
    let left = start;
    for (;;) {
      const dot = this.#takes(".");
      if (dot !== undefined) {
        const optional = this.#takes("?");
        const name = this.#name().text;
        const open = optional === undefined ? this.#takes("(") : undefined;
        if (open !== undefined) left = this.#called(open.at, name, left);
        else if (optional === undefined) left = { kind: "select", at: dot.at, operand: left, field: name, test: false };
        else left = call(dot.at, "_?._", [left, { kind: "literal", at: dot.at, value: name }]);
        continue;
      }
      const open = this.#takes("[");
      if (open === undefined) return left;
      const optional = this.#takes("?");
      const index = this.#expression();
      this.#needs("]");
      left = call(open.at, optional === undefined ? "_[_]" : "_[?_]", [left, index]);
    }
  }

  #called(at: number, fn: string, target: Expression | undefined): Expression {
    const args: Expression[] = [];
    while (!this.#is(")")) {
      args.push(this.#expression());
      if (this.#takes(",") === undefined) break;
    }
    this.#needs(")");
    try {
      return expanded(at, fn, target, args) ?? call(at, fn, args, target);
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
    const open = this.#takes("(");
    if (open !== undefined) return this.#called(open.at, name.text, undefined);
    if (RESERVED.has(name.text)) this.#fail(name.at, `reserved identifier: ${name.text}`);
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
    return { kind: "list", at, items };
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
    return { kind: "map", at, entries };
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
    return { kind: "message", at: brace.at, type, fields };
  }
}

function call(at: number, fn: string, args: readonly Expression[], target?: Expression): Expression {
  return { kind: "call", at, fn, target, args };
}
