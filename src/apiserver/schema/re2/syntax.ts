/** RE2 patterns, the dialect of Go: what they are made of. */
import { type Characters, type ClassItem, charactersOf, PERL, POSIX, property, range } from "./characters.ts";

/** A place that takes no characters. */
export type Place = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "boundary" | "noBoundary";

export type Part =
  | { readonly kind: "character"; readonly has: Characters }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Part[] }
  | Repeat;

export interface Repeat {
  readonly kind: "repeat";
  readonly of: Part;
  readonly min: number;
  readonly max: number;
  readonly greedy: boolean;
  /** Written with numbers in braces. */
  readonly counted: boolean;
}

/** How often something may be repeated by numbers, in all that are around each other together. */
const MAX_COUNT = 1000;
/** How deep groups may be nested. */
const MAX_DEPTH = 1000;

/** Reads a pattern. Throws `SyntaxError` with Go's words (what is wrong, and where) for what is none. */
export function parse(pattern: string): Part {
  return new Parser(pattern).whole();
}

interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
  readonly lazy: boolean;
}

const FLAGS: Readonly<Record<string, keyof Flags>> = { i: "fold", m: "lines", s: "dotAll", U: "lazy" };
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const LAST_POINT = 0x10ffff;

class Parser {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;
  #flags: Flags = { fold: false, lines: false, dotAll: false, lazy: false };

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  whole(): Part {
    const part = this.#choice();
    if (this.#at < this.#pattern.length) this.#fail("unexpected )", this.#pattern);
    return part;
  }

  #fail(message: string, shown: string): never {
    throw new SyntaxError(`${message}: \`${shown}\``);
  }

  /** What was read since `from`. */
  #since(from: number): string {
    return this.#pattern.slice(from, this.#at);
  }

  #sees(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  #takes(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  #matches(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#pattern);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }

  /** The next character's code point; undefined at the end. */
  #point(): number | undefined {
    const point = this.#pattern.codePointAt(this.#at);
    if (point !== undefined) this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #choice(): Part {
    const parts = [this.#sequence()];
    while (this.#takes("|")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    let repeatedAt: number | undefined;
    while (this.#at < this.#pattern.length && !this.#sees("|") && !this.#sees(")")) {
      const start = this.#at;
      const counts = this.#counts();
      if (counts === undefined) {
        parts.push(...this.#parts());
        repeatedAt = undefined;
        continue;
      }
      const lazy = this.#takes("?") !== this.#flags.lazy;
      if (repeatedAt !== undefined) this.#fail("invalid nested repetition operator", this.#since(repeatedAt));
      const of = parts.pop();
      if (of === undefined) this.#fail("missing argument to repetition operator", this.#since(start));
      const repeat: Repeat = { kind: "repeat", of, ...counts, greedy: !lazy };
      if (repeat.counted && !isWithin(repeat, MAX_COUNT)) this.#fail("invalid repeat count", this.#since(start));
      parts.push(repeat);
      repeatedAt = start;
    }
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #counts(): Pick<Repeat, "min" | "max" | "counted"> | undefined {
    if (this.#takes("*")) return { min: 0, max: Infinity, counted: false };
    if (this.#takes("+")) return { min: 1, max: Infinity, counted: false };
    if (this.#takes("?")) return { min: 0, max: 1, counted: false };
    const braces = this.#matches(/\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y);
    if (braces === undefined) return undefined;
    const [whole, least, comma, most] = braces;
    const min = Number(least);
    const max = comma === undefined ? min : most === undefined ? Infinity : Number(most);
    if (min > MAX_COUNT || min > max || (max > MAX_COUNT && max !== Infinity))
      this.#fail("invalid repeat count", whole);
    return { min, max, counted: true };
  }

  /** What comes next and is no repetition: mostly one part, none for flags. */
  #parts(): Part[] {
    const { fold, lines, dotAll } = this.#flags;
    if (this.#sees("(")) return this.#group();
    if (this.#sees("[")) return [{ kind: "character", has: this.#class() }];
    if (this.#takes("^")) return [{ kind: "place", place: lines ? "lineStart" : "textStart" }];
    if (this.#takes("$")) return [{ kind: "place", place: lines ? "lineEnd" : "textEnd" }];
    if (this.#takes(".")) return [{ kind: "character", has: dotAll ? () => true : (point) => point !== 10 }];
    if (this.#takes("\\A")) return [{ kind: "place", place: "textStart" }];
    if (this.#takes("\\z")) return [{ kind: "place", place: "textEnd" }];
    if (this.#takes("\\b")) return [{ kind: "place", place: "boundary" }];
    if (this.#takes("\\B")) return [{ kind: "place", place: "noBoundary" }];
    if (this.#takes("\\Q")) {
      const [text = ""] = this.#matches(/.*?(?=\\E|$)/sy) ?? [];
      this.#takes("\\E");
      return [...text].map((char) => literal(char.codePointAt(0)!, fold));
    }
    const item = this.#shorthand();
    if (item !== undefined) return [{ kind: "character", has: charactersOf([item], false, fold) }];
    return [literal(this.#sees("\\") ? this.#escape() : this.#point()!, fold)];
  }

  #group(): Part[] {
    const start = this.#at;
    const outside = this.#flags;
    this.#at++;
    if (this.#sees("?")) {
      const opens = this.#sees("?P<") || this.#sees("?<") ? this.#name(start) : this.#setFlags(start);
      if (!opens) return [];
    }
    if (++this.#depth > MAX_DEPTH) this.#fail("expression nests too deeply", this.#pattern);
    const part = this.#choice();
    if (!this.#takes(")")) this.#fail("missing closing )", this.#pattern);
    this.#depth--;
    this.#flags = outside;
    return [part];
  }

  #name(start: number): true {
    const found = this.#matches(/\?P?<([^>]*)>/y);
    if (found === undefined) this.#fail("invalid named capture", this.#pattern.slice(start));
    if (!/^\w+$/.test(found[1]!)) this.#fail("invalid named capture", this.#since(start));
    return true;
  }

  /** Reads `?i)` or `?i:`: whether a group begins, or the flags are those of the rest of the group around. */
  #setFlags(start: number): boolean {
    this.#at++;
    const flags = { ...this.#flags };
    let value = true;
    let isSet = true;
    for (let point = this.#point(); point !== undefined; point = this.#point()) {
      const char = String.fromCodePoint(point);
      const flag = FLAGS[char];
      if (flag !== undefined) {
        flags[flag] = value;
        isSet = true;
      } else if (char === "-" && value) {
        value = false;
        isSet = false;
      } else if ((char === ":" || char === ")") && isSet) {
        this.#flags = flags;
        return char === ":";
      } else break;
    }
    return this.#fail("invalid or unsupported Perl syntax", this.#since(start));
  }

  #class(): Characters {
    const start = this.#at++;
    const negated = this.#takes("^");
    const items: ClassItem[] = [];
    for (let isFirst = true; isFirst || !this.#sees("]"); isFirst = false) {
      const item = this.#posix() ?? this.#shorthand();
      if (item !== undefined) {
        items.push(item);
        continue;
      }
      const from = this.#at;
      const low = this.#classPoint(start);
      let high = low;
      if (/-[^\]]/y.test(this.#pattern.slice(this.#at, this.#at + 2))) {
        this.#at++;
        high = this.#classPoint(start);
        if (high < low) this.#fail("invalid character class range", this.#since(from));
      }
      items.push(range(low, high));
    }
    this.#at++;
    return charactersOf(items, negated, this.#flags.fold);
  }

  #classPoint(start: number): number {
    if (this.#sees("\\")) return this.#escape();
    return this.#point() ?? this.#fail("missing closing ]", this.#pattern.slice(start));
  }

  #posix(): ClassItem | undefined {
    const [whole = "", not, name = ""] = this.#matches(/\[:(\^?)(.*?):\]/sy) ?? [];
    if (whole === "") return undefined;
    const source = Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
    return source === undefined ? this.#fail("invalid character class range", whole) : { source, negated: not === "^" };
  }

  /** `\d` and the like, and `\pL` and `\p{Greek}`. */
  #shorthand(): ClassItem | undefined {
    const perl = this.#matches(/\\([dswDSW])/y)?.[1];
    if (perl !== undefined) return { source: PERL[perl.toLowerCase()]!, negated: perl < "a" };
    const start = this.#at;
    const sign = this.#matches(/\\([pP])(?=.)/sy)?.[1];
    if (sign === undefined) return undefined;
    const [whole, inBraces] = this.#matches(/\{([^}]*)\}|./suy)!;
    if (whole === "{") this.#fail("invalid character class range", this.#pattern.slice(start));
    const [, not, name = ""] = /^(\^?)(.*)$/s.exec(inBraces ?? whole)!;
    const source = property(name);
    if (source === undefined) this.#fail("invalid character class range", this.#since(start));
    return { source, negated: (sign === "P") !== (not === "^") };
  }

  /** The character that an escape stands for. */
  #escape(): number {
    const start = this.#at++;
    if (this.#at === this.#pattern.length) this.#fail("trailing backslash at end of expression", "");
    const octal = this.#matches(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y);
    if (octal !== undefined) return Number.parseInt(octal[0], 8);
    const hex = this.#matches(/x(?:([0-9A-Fa-f]{2})|\{0*([0-9A-Fa-f]{1,6})\})/y);
    const point = hex === undefined ? undefined : Number.parseInt(hex[1] ?? hex[2]!, 16);
    if (point !== undefined && point <= LAST_POINT) return point;
    if (hex !== undefined) this.#at = start + 1;
    const char = String.fromCodePoint(this.#point()!);
    if (Object.hasOwn(CONTROLS, char)) return CONTROLS[char]!;
    if (/^[\0-\x7f]$/.test(char) && !/^[0-9A-Za-z]$/.test(char)) return char.charCodeAt(0);
    if (char === "x") this.#wrongHex();
    return this.#fail("invalid escape sequence", this.#since(start));
  }

  /** Goes on to where Go sees that this is no character in hexadecimal digits. */
  #wrongHex(): void {
    if (!this.#takes("{")) {
      this.#point();
      this.#point();
      return;
    }
    let value = 0;
    for (let point = this.#point(); point !== undefined; point = this.#point()) {
      const digit = Number.parseInt(String.fromCodePoint(point), 16);
      value = value * 16 + digit;
      if (Number.isNaN(digit) || value > LAST_POINT) return;
    }
  }
}

function literal(point: number, fold: boolean): Part {
  return {
    kind: "character",
    has: fold ? charactersOf([range(point, point)], false, true) : (other) => other === point,
  };
}

/** Whether the counted repetitions around each other come to no more copies than this. */
function isWithin(part: Part, copies: number): boolean {
  if (part.kind === "sequence" || part.kind === "choice") return part.parts.every((inner) => isWithin(inner, copies));
  if (part.kind !== "repeat") return true;
  if (!part.counted) return isWithin(part.of, copies);
  if (part.max === 0) return true;
  const most = part.max === Infinity ? part.min : part.max;
  return most <= copies && isWithin(part.of, most > 0 ? Math.floor(copies / most) : copies);
}
