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
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) at += match[0].length;
    return match ?? undefined;
  };
  for (;;) {
    take(SPACE);
    const start = at;
    if (at >= source.length) {
      found.push({ kind: "end", text: "<EOF>", at });
      return found;
    }
    const text = take(TEXT);
    if (text !== undefined) {
      const [value, end] = textAt(source, start, at, text[1]!.toLowerCase(), text[2]!);
      at = end;
      found.push({ kind: "literal", text: source.slice(start, at), at: start, value });
      continue;
    }
    const name = take(NAME);
    if (name !== undefined) {
      found.push(keyword(name[0], start));
      continue;
    }
    const number = /[0-9]|\.[0-9]/.test(source.slice(at, at + 2)) ? take(NUMBER) : undefined;
    if (number !== undefined) {
      const unsigned = !/[uU]$/.test(number[0]) && /[uU]/.test(source[at] ?? "") && /^\d+$/.test(number[0]);
      if (unsigned) at++;
      found.push({ kind: "literal", text: source.slice(start, at), at: start, value: 0n });
      continue;
    }
    const operator = take(OPERATORS);
    if (operator === undefined)
      throw new ExpressionError(source, [
        { at, message: `Syntax error: token recognition error at: '${source[at] === "\n" ? "\\n" : source[at]}'` },
      ]);
    found.push({ kind: "operator", text: operator[0], at: start });
  }
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

/** The text or bytes that begin at `start`, whose contents begin at `at`, and where they end. */
function textAt(source: string, start: number, at: number, prefix: string, quote: string): [Value, number] {
  const raw = prefix.includes("r");
  const bytes: number[] = [];
  const isBytes = prefix.includes("b");
  let text = "";
  const wrong = (where: number): never => {
    throw new ExpressionError(source, [{ at: where, message: "Syntax error: token recognition error at: a text" }]);
  };
  const add = (part: string): void => {
    if (isBytes) bytes.push(...Buffer.from(part));
    else text += part;
  };
  let i = at;
  for (;;) {
    if (i >= source.length || (quote.length === 1 && /[\n\r]/.test(source[i]!))) wrong(start);
    if (source.startsWith(quote, i)) break;
    const char = source.startsWith("\r\n", i) ? "\r\n" : String.fromCodePoint(source.codePointAt(i)!);
    i += char.length;
    if (char !== "\\" || raw) {
      add(char[0] === "\r" ? "\n" : char);
      continue;
    }
    const simple = SIMPLE[source[i] ?? ""];
    if (simple !== undefined) {
      add(simple);
      i++;
      continue;
    }
    const code = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y;
    code.lastIndex = i;
    const match = code.exec(source);
    if (match === null) return wrong(start);
    const point =
      match[4] === undefined ? Number.parseInt(match[1] ?? match[2] ?? match[3]!, 16) : Number.parseInt(match[4], 8);
    const isRune = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    if (!isRune || (isBytes && (match[2] ?? match[3]) !== undefined)) wrong(start);
    if (isBytes) bytes.push(point);
    else text += String.fromCodePoint(point);
    i += match[0].length;
  }
  return [isBytes ? Uint8Array.from(bytes) : text, i + quote.length];
}
