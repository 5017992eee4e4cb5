import { allPasses, Pace, type Passes } from "./turns.ts";

/**
 * What is wrong with a text that is no JSON, in the words of Go's decoder; undefined when nothing is. One pass without recursion.
 */
export function jsonSyntaxError(text: string): string | undefined {
  return allPasses(syntaxErrorInPasses(text, MAX_JSON_DEPTH));
}

/** `jsonSyntaxError` in passes. More than so many levels are an error, too. */
export function* syntaxErrorInPasses(text: string, maxDepth: number): Passes<string | undefined> {
  const pace = new Pace();
  const closers: ("}" | "]")[] = [];
  let at = skipSpace(text, 0);
  let wanted: "value" | "key" | "first key" | "first item" | "more" = "value";
  for (;;) {
    if (pace.isOver()) yield;
    if (at >= text.length) return wanted === "more" && closers.length === 0 ? undefined : END;
    const char = text[at]!;
    if (wanted === "more") {
      const closer = closers.at(-1);
      if (closer === undefined) return strange(text, at, "after top-level value");
      if (char === closer) closers.pop();
      else if (char !== ",")
        return strange(text, at, closer === "}" ? "after object key:value pair" : "after array element");
      else wanted = closer === "}" ? "key" : "value";
      at = skipSpace(text, at + 1);
      continue;
    }
    if ((wanted === "first key" && char === "}") || (wanted === "first item" && char === "]")) {
      closers.pop();
      wanted = "more";
      at = skipSpace(text, at + 1);
      continue;
    }
    if (wanted === "key" || wanted === "first key") {
      if (char !== '"') return strange(text, at, "looking for beginning of object key string");
      const key = endOfString(text, at);
      if (typeof key === "string") return key;
      at = skipSpace(text, key);
      if (at >= text.length) return END;
      if (text[at] !== ":") return strange(text, at, "after object key");
      at = skipSpace(text, at + 1);
      wanted = "value";
      continue;
    }
    if (char === "{" || char === "[") {
      if (closers.push(char === "{" ? "}" : "]") > maxDepth) return strange(text, at, "exceeded max depth");
      wanted = char === "{" ? "first key" : "first item";
      at = skipSpace(text, at + 1);
      continue;
    }
    const end = endOfScalar(text, at);
    if (typeof end === "string") return end;
    at = skipSpace(text, end);
    wanted = "more";
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

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
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
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') return at + 1;
    if (char < " ") return strange(text, at, "in string literal");
    if (char !== "\\") continue;
    at++;
    if (at >= text.length) return END;
    if (text[at] === "u") {
      for (let i = 0; i < 4; i++) {
        at++;
        if (at >= text.length) return END;
        if (!/[0-9a-fA-F]/.test(text[at]!)) return strange(text, at, "in \\u hexadecimal character escape");
      }
    } else if (!'"\\/bfnrt'.includes(text[at]!)) return strange(text, at, "in string escape code");
  }
  return END;
}

function endOfNumber(text: string, start: number): number | string {
  let at = start;
  const isDigit = (): boolean => at < text.length && text[at]! >= "0" && text[at]! <= "9";
  const digits = (where: string): string | undefined => {
    if (at >= text.length) return END;
    if (!isDigit()) return strange(text, at, where);
    while (isDigit()) at++;
    return undefined;
  };
  if (text[at] === "-") at++;
  if (text[at] === "0") at++;
  else {
    const wrong = digits("in numeric literal");
    if (wrong !== undefined) return wrong;
  }
  if (text[at] === ".") {
    at++;
    const wrong = digits("after decimal point in numeric literal");
    if (wrong !== undefined) return wrong;
  }
  if (text[at] === "e" || text[at] === "E") {
    at++;
    if (text[at] === "+" || text[at] === "-") at++;
    const wrong = digits("in exponent of numeric literal");
    if (wrong !== undefined) return wrong;
  }
  return at;
}
