/**
 * RE2 patterns (the dialect of Go and of CRD schemas) as JavaScript regular expressions.
 *
 * Translates what differs in spelling: `\A \z`, `(?P<name>)`, leading flags, POSIX classes. Constructs that RE2 does not
 * have (look-around, back-references) are refused as Go refuses them.
 *
 * RE2 takes linear time, JavaScript may backtrack for hours over one hostile pattern. V8 has a linear engine too, and goes over
 * to it after too many steps back; it is switched on here for the process. It knows neither the `u` and `i` flags nor
 * counted repetitions, so `u` is only used where a pattern needs it, and patterns that do need those are bounded by `maxLength`
 * and the size of a request alone. Without `u`, a character beyond 16 bits counts as two for `.` and classes.
 */
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--enable-experimental-regexp-engine-on-excessive-backtracks");
setFlagsFromString("--regexp-backtracks-before-fallback=10000");

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const TOKEN =
  /\\x\{[0-9A-Fa-f]+\}|\\[pP][A-Z]|\\[\s\S]|\[:\^?[a-z]+:\]|\[\^?\]?|\(\?[imsU]+\)|\(\?P<|\(\?<?[=!]|[\]()]|\{(?!\d+(?:,\d*)?\})/g;

/** Throws `SyntaxError` where Go's regexp would refuse the pattern or JavaScript can't express it. */
export function fromRe2(pattern: string, flags = ""): RegExp {
  let inClass = false;
  // For each open group: how many flag groups, opened inside it by `(?i)`, end with it.
  const flagGroups = [0];
  const translated = pattern.replace(TOKEN, (token) => {
    if (token.startsWith("\\")) return inClass ? escapeInClass(token) : escaped(token);
    if (inClass) {
      if (token.startsWith("[:")) return posixClass(token);
      if (token.startsWith("[")) {
        inClass = !token.endsWith("]");
        return `\\${token}`;
      }
      if (token === "]") inClass = false;
      return token === "]" || token === "{" ? token : `\\${token}`;
    }
    if (token.startsWith("[")) {
      inClass = true;
      // A bracket right after the opening one stands for itself.
      return token.replace("]", "\\]");
    }
    switch (token) {
      case "]":
      case "{":
        return `\\${token}`;
      case "(":
        flagGroups.push(0);
        return token;
      case ")":
        return ")".repeat((flagGroups.length > 1 ? (flagGroups.pop() ?? 0) : 0) + 1);
      case "(?P<":
        flagGroups.push(0);
        return "(?<";
    }
    if (!/^\(\?[ims]+\)$/.test(token))
      throw new SyntaxError(`invalid or unsupported Perl syntax: \`${token.replace(/\)$/, "")}\``);
    flagGroups[flagGroups.length - 1] = (flagGroups.at(-1) ?? 0) + 1;
    return `${token.slice(0, -1)}:`;
  });
  const source = translated + ")".repeat(flagGroups[0] ?? 0);
  return new RegExp(source, NEEDS_UNICODE.test(source) ? `${flags}u` : flags);
}

/** Classes by property, code points in braces, and characters beyond 16 bits. */
const NEEDS_UNICODE = /\\[pPu]\{|[\u{10000}-\u{10ffff}]/u;

/** In `u` mode JavaScript refuses needless escapes that Go takes, such as `\_` and `\-` outside a class. */
function escaped(token: string): string {
  const char = token[1] ?? "";
  if (char === "A") return "^";
  if (char === "z") return "$";
  if (/[1-9Z]/.test(char)) throw new SyntaxError(`invalid escape sequence: \`${token}\``);
  return escapeInClass(token);
}

function escapeInClass(token: string): string {
  const char = token[1] ?? "";
  if (token.startsWith("\\x{")) return `\\u{${token.slice(3)}`;
  if (token.length === 3) return `${token.slice(0, 2)}{${token[2]}}`;
  if (/[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(char)) return token === "\\a" ? "\\x07" : token;
  if (char === "-") return "\\x2d";
  return char;
}

function posixClass(token: string): string {
  const negated = token[2] === "^";
  const name = token.slice(negated ? 3 : 2, -2);
  const set = POSIX[name];
  if (set === undefined) throw new SyntaxError(`invalid character class range: \`${token}\``);
  if (negated) throw new SyntaxError(`negated class ${token} is not supported`);
  return set;
}
