import { ExpressionError } from "./expression.ts";
import { Uint, type Value } from "./values.ts";

export interface Token {
  readonly kind: "name" | "literal" | "operator" | "end";
  /** An operator or keyword, or a name. */
  readonly text: string;
  readonly at: number;
  readonly value?: Value;
}

const OPERATORS = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;
const NUMBER = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?|\d+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SPACE = /(?:[ \t\r\n\f]+|\/\/[^\n]*)+/y;
const TEXT = /([bB]?[rR]?)("""|'''|"|')/y;

/** Splits an expression into tokens. Throws `ExpressionError`. */
export function tokens(source: string): Token[] {
  const found: Token[] = [];
  let at = afterSpace(source, 0);
  while (at < source.length) {
    const token = tokenAt(source, at);
    found.push(token);
    at = afterSpace(source, at + token.text.length);
  }
  found.push({ kind: "end", text: "<EOF>", at });
  return found;
}

function tokenAt(source: string, at: number): Token {
  const text = matchAt(TEXT, source, at);
  if (text !== null) {
    const [value, end] = textAt(source, at, { prefix: text[1]!.toLowerCase(), quote: text[2]! });
    return { kind: "literal", text: source.slice(at, end), at, value };
  }
  const name = matchAt(NAME, source, at);
  if (name !== null) return keyword(name[0], at);
  const number = matchAt(NUMBER, source, at);
  if (number !== null) return { kind: "literal", text: withSuffix(number[0], source, at), at, value: 0n };
  const operator = matchAt(OPERATORS, source, at);
  if (operator !== null) return { kind: "operator", text: operator[0], at };
  const char = source[at] === "\n" ? "\\n" : source[at];
  throw new ExpressionError(source, [{ at, message: `Syntax error: token recognition error at: '${char}'` }]);
}

/** What a sticky pattern matches at a place. */
function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function afterSpace(source: string, at: number): number {
  const space = matchAt(SPACE, source, at);
  return space === null ? at : at + space[0].length;
}

/** A decimal number with the `u` that may follow it. */
function withSuffix(number: string, source: string, at: number): string {
  const next = source[at + number.length] ?? "";
  return /[uU]/.test(next) && /^\d+$/.test(number) ? number + next : number;
}

function keyword(text: string, at: number): Token {
  switch (text) {
    case "true":
    case "false":
      return { kind: "literal", text, at, value: text === "true" };
    case "null":
      return { kind: "literal", text, at, value: null };
    case "in":
      return { kind: "operator", text, at };
    default:
      return { kind: "name", text, at };
  }
}

/** The number that a literal (with its sign) writes; undefined when it is out of range. */
export function numberOf(text: string): Value | undefined {
  if (/^-?(0x)?[0-9a-fA-F]+[uU]$/.test(text)) {
    const value = BigInt(text.slice(0, -1));
    return value >= 0n && value < 1n << 64n ? new Uint(value) : undefined;
  }
  if (/^-?(0x[0-9a-fA-F]+|\d+)$/.test(text)) {
    const value = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
    return value >= -(1n << 63n) && value < 1n << 63n ? value : undefined;
  }
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "?": "?",
  '"': '"',
  "'": "'",
  "`": "`",
};

/** The text or bytes that begin at `start`, and where they end. */
function textAt(source: string, start: number, { prefix, quote }: { prefix: string; quote: string }): [Value, number] {
  const literal = new TextLiteral(source, start, prefix.includes("b"));
  const raw = prefix.includes("r");
  let i = start + prefix.length + quote.length;
  while (!source.startsWith(quote, i)) {
    if (i >= source.length || (quote.length === 1 && /[\n\r]/.test(source[i]!))) throw unreadable(source, start);
    i = source[i] === "\\" && !raw ? literal.addEscape(i + 1) : literal.addCharacter(i);
  }
  return [literal.value, i + quote.length];
}

function unreadable(source: string, at: number): ExpressionError {
  return new ExpressionError(source, [{ at, message: "Syntax error: token recognition error at: a text" }]);
}

const CODE = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y;

/** What was read of a literal so far. */
class TextLiteral {
  readonly #source: string;
  readonly #start: number;
  readonly #isBytes: boolean;
  readonly #bytes: number[] = [];
  #text = "";

  constructor(source: string, start: number, isBytes: boolean) {
    this.#source = source;
    this.#start = start;
    this.#isBytes = isBytes;
  }

  get value(): Value {
    return this.#isBytes ? Uint8Array.from(this.#bytes) : this.#text;
  }

  /** Takes the character at a place, and returns where it ends. A line's end is one line feed. */
  addCharacter(at: number): number {
    const source = this.#source;
    const char = source.startsWith("\r\n", at) ? "\r\n" : String.fromCodePoint(source.codePointAt(at)!);
    this.#add(char[0] === "\r" ? "\n" : char);
    return at + char.length;
  }

  /** Takes the escape whose backslash is before a place, and returns where it ends. */
  addEscape(at: number): number {
    const simple = SIMPLE[this.#source[at] ?? ""];
    if (simple !== undefined) {
      this.#add(simple);
      return at + 1;
    }
    const match = matchAt(CODE, this.#source, at);
    if (match === null) throw unreadable(this.#source, this.#start);
    const [all, byte, short, long, octal] = match;
    const point = octal === undefined ? Number.parseInt(byte ?? short ?? long!, 16) : Number.parseInt(octal, 8);
    const isRune = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    if (!isRune || (this.#isBytes && (short ?? long) !== undefined)) throw unreadable(this.#source, this.#start);
    if (this.#isBytes) this.#bytes.push(point);
    else this.#text += String.fromCodePoint(point);
    return at + all.length;
  }

  #add(part: string): void {
    if (this.#isBytes) this.#bytes.push(...Buffer.from(part));
    else this.#text += part;
  }
}
