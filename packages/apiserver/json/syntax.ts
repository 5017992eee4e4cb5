import { Pace, type Passes } from "./turns.ts";

/**
 * What is wrong with a text that is no JSON, in the words of Go's decoder; undefined when nothing is. In passes, without recursion.
 * More than so many levels are an error, too.
 */
export function* syntaxErrorInPasses(text: string, maxDepth: number): Passes<string | undefined> {
  const pace = new Pace();
  const reader = new Reader(text, maxDepth);
  while (!reader.isAtEnd()) {
    if (pace.isOver()) yield;
    const wrong = reader.read();
    if (wrong !== undefined) return wrong;
  }
  return reader.isWhole() ? undefined : END;
}

type Wanted = "value" | "key" | "first key" | "first item" | "more";

/** Reads a text part by part: a scalar, a key with its colon, or one of `{}[],`. */
class Reader {
  readonly #text: string;
  readonly #maxDepth: number;
  #at: number;
  #wanted: Wanted = "value";
  /** What ends the objects and lists that are open, the innermost last. */
  readonly #closers: ("}" | "]")[] = [];

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#at = skipSpace(text, 0);
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Whether what was read until here is one JSON value. */
  isWhole(): boolean {
    return this.#wanted === "more" && this.#closers.length === 0;
  }

  /** Reads one part and the space behind it, or says what is wrong with it. */
  read(): string | undefined {
    switch (this.#wanted) {
      case "more":
        return this.#more();
      case "key":
        return this.#key();
      case "first key":
        return this.#text[this.#at] === "}" ? this.#close() : this.#key();
      case "first item":
        return this.#text[this.#at] === "]" ? this.#close() : this.#value();
      case "value":
        return this.#value();
    }
  }

  #value(): string | undefined {
    const char = this.#text[this.#at]!;
    if (char === "{" || char === "[") return this.#open(char);
    return this.#goOn(endOfScalar(this.#text, this.#at), "more");
  }

  #open(char: "{" | "["): string | undefined {
    const isObject = char === "{";
    if (this.#closers.push(isObject ? "}" : "]") > this.#maxDepth) return this.#strange("exceeded max depth");
    return this.#goOn(this.#at + 1, isObject ? "first key" : "first item");
  }

  #close(): undefined {
    this.#closers.pop();
    this.#goOn(this.#at + 1, "more");
  }

  #key(): string | undefined {
    const text = this.#text;
    if (text[this.#at] !== '"') return this.#strange("looking for beginning of object key string");
    const wrong = this.#goOn(endOfString(text, this.#at), "value");
    if (wrong !== undefined) return wrong;
    if (this.isAtEnd()) return END;
    if (text[this.#at] !== ":") return this.#strange("after object key");
    return this.#goOn(this.#at + 1, "value");
  }

  #more(): string | undefined {
    const char = this.#text[this.#at]!;
    const closer = this.#closers.at(-1);
    if (closer === undefined) return this.#strange("after top-level value");
    if (char === closer) return this.#close();
    if (char === ",") return this.#goOn(this.#at + 1, closer === "}" ? "key" : "value");
    return this.#strange(closer === "}" ? "after object key:value pair" : "after array element");
  }

  /** Goes on behind a part that ends there, unless it is wrong. */
  #goOn(end: number | string, wanted: Wanted): string | undefined {
    if (typeof end === "string") return end;
    this.#at = skipSpace(this.#text, end);
    this.#wanted = wanted;
    return undefined;
  }

  #strange(where: string): string {
    return strange(this.#text, this.#at, where);
  }
}

/** Go's decoder takes no more levels. */
export const MAX_JSON_DEPTH = 10_000;
const END = "unexpected end of JSON input";

function strange(text: string, at: number, where: string): string {
  const char = String.fromCodePoint(text.codePointAt(at)!);
  const quoted = char === "'" ? `'\\''` : char === '"' ? `'"'` : `'${JSON.stringify(char).slice(1, -1)}'`;
  return `invalid character ${quoted} ${where}`;
}

/** Space, tab, line feed, carriage return. NaN, behind the end, is none. */
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Where the scalar at `at` ends, or what is wrong with it. */
function endOfScalar(text: string, at: number): number | string {
  const char = text[at]!;
  if (char === '"') return endOfString(text, at);
  if (char === "-" || (char >= "0" && char <= "9")) return endOfNumber(text, at);
  const literal = ["true", "false", "null"].find((word) => word[0] === char);
  if (literal === undefined) return strange(text, at, "looking for beginning of value");
  for (let i = 1; i < literal.length; i++) {
    if (at + i >= text.length) return END;
    if (text[at + i] !== literal[i]) return strange(text, at + i, `in literal ${literal} (expecting '${literal[i]}')`);
  }
  return at + literal.length;
}

function endOfString(text: string, start: number): number | string {
  let at = start + 1;
  while (at < text.length) {
    const char = text[at]!;
    if (char === '"') return at + 1;
    if (char < " ") return strange(text, at, "in string literal");
    if (char === "\\") {
      const end = endOfEscape(text, at);
      if (typeof end === "string") return end;
      at = end;
    } else at++;
  }
  return END;
}

/** Where the escape ends whose backslash is at `start`. */
function endOfEscape(text: string, start: number): number | string {
  const at = start + 1;
  if (at >= text.length) return END;
  if (text[at] !== "u") return '"\\/bfnrt'.includes(text[at]!) ? at + 1 : strange(text, at, "in string escape code");
  for (let digit = at + 1; digit <= at + 4; digit++) {
    if (digit >= text.length) return END;
    if (!/[0-9a-fA-F]/.test(text[digit]!)) return strange(text, digit, "in \\u hexadecimal character escape");
  }
  return at + 5;
}

function endOfNumber(text: string, start: number): number | string {
  const first = text[start] === "-" ? start + 1 : start;
  const whole = text[first] === "0" ? first + 1 : endOfDigits(text, first, "in numeric literal");
  if (typeof whole === "string") return whole;
  const decimal = text[whole] === "." ? endOfDigits(text, whole + 1, "after decimal point in numeric literal") : whole;
  if (typeof decimal === "string") return decimal;
  if (text[decimal] !== "e" && text[decimal] !== "E") return decimal;
  const sign = text[decimal + 1];
  return endOfDigits(text, decimal + (sign === "+" || sign === "-" ? 2 : 1), "in exponent of numeric literal");
}

/** Where the digits at `at` end, of which there must be one. */
function endOfDigits(text: string, at: number, where: string): number | string {
  if (at >= text.length) return END;
  if (!isDigit(text.charCodeAt(at))) return strange(text, at, where);
  let end = at + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
