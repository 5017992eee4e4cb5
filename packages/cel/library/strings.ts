/** CEL's strings extension and Kubernetes' regular expressions in RE2 syntax. */

import { characters, offsetOf } from "../code-points.ts";
import type { Functions } from "../functions.ts";
import { quoted } from "../go-text.ts";
import { Pattern } from "../pattern.ts";
import { CelError, type Value } from "../values.ts";
import { format } from "./format-texts.ts";

/** Adds the functions of strings: CEL's own, those of its extension, and Kubernetes' `find` and `findAll`. */
export function registerStrings(functions: Functions): void {
  functions
    .add("contains", "contains_string", "string.(string) -> bool", (text: string, part: string) => text.includes(part))
    .add("startsWith", "starts_with_string", "string.(string) -> bool", (text: string, part: string) =>
      text.startsWith(part),
    )
    .add("endsWith", "ends_with_string", "string.(string) -> bool", (text: string, part: string) => text.endsWith(part))
    .add("matches", "matches", "(string, string) -> bool", matches)
    .add("matches", "matches_string", "string.(string) -> bool", matches)
    .add("find", "string_find_string", "string.(string) -> string", (text: string, source: string) => {
      return found(source).find(text) ?? "";
    })
    .add("findAll", "string_find_all_string", "string.(string) -> list(string)", (text: string, source: string) =>
      all(text, source, -1n),
    )
    .add("findAll", "string_find_all_string_int", "string.(string, int) -> list(string)", all)
    .add("charAt", "string_char_at_int", "string.(int) -> string", (text: string, at: bigint) => {
      const offset = offsetOf(text, at);
      if (offset === undefined) throw new CelError(`index out of range: ${at}`);
      return offset === text.length ? "" : String.fromCodePoint(text.codePointAt(offset)!);
    })
    .add("indexOf", "string_index_of_string", "string.(string) -> int", (text: string, part: string) =>
      indexOf(text, part, 0n),
    )
    .add("indexOf", "string_index_of_string_int", "string.(string, int) -> int", indexOf)
    .add("lastIndexOf", "string_last_index_of_string", "string.(string) -> int", (text: string, part: string) =>
      place(text, text.lastIndexOf(part)),
    )
    .add("lastIndexOf", "string_last_index_of_string_int", "string.(string, int) -> int", lastIndexOf)
    .add("lowerAscii", "string_lower_ascii", "string.() -> string", (text: string) =>
      text.replace(/[A-Z]+/g, (part) => part.toLowerCase()),
    )
    .add("upperAscii", "string_upper_ascii", "string.() -> string", (text: string) =>
      text.replace(/[a-z]+/g, (part) => part.toUpperCase()),
    )
    .add(
      "replace",
      "string_replace_string_string",
      "string.(string, string) -> string",
      (text: string, from: string, to: string) => replaced(text, from, to, -1n),
    )
    .add("replace", "string_replace_string_string_int", "string.(string, string, int) -> string", replaced)
    .add("split", "string_split_string", "string.(string) -> list(string)", (text: string, by: string) =>
      split(text, by, -1n),
    )
    .add("split", "string_split_string_int", "string.(string, int) -> list(string)", split)
    .add("substring", "string_substring_int", "string.(int) -> string", (text: string, from: bigint) =>
      substring(text, from, undefined),
    )
    .add("substring", "string_substring_int_int", "string.(int, int) -> string", substring)
    .add("trim", "string_trim", "string.() -> string", trimmed)
    .add("join", "list_join", "list(string).() -> string", (list: readonly string[]) => join(list, ""))
    .add("join", "list_join_string", "list(string).(string) -> string", join)
    .add("format", "string_format", "string.(list(dyn)) -> string", format)
    .add("strings.quote", "strings_quote", "(string) -> string", quoted);
}

/** The longest text that a replacement may make, which may be far longer than what the rule's cost counts. */
const MAX_REPLACED = 2 ** 27;

/** What Go says of a pattern that is none. */
export function patternError(source: string): string | undefined {
  try {
    new Pattern(source);
    return undefined;
  } catch (error) {
    return `error parsing regexp: ${(error as Error).message}`;
  }
}

function matches(text: string, source: string): boolean {
  const wrong = patternError(source);
  if (wrong !== undefined) throw new CelError(wrong);
  return new Pattern(source).test(text);
}

function found(source: string): Pattern {
  const wrong = patternError(source);
  if (wrong !== undefined) throw new CelError(`Illegal regex: ${wrong}`);
  return new Pattern(source);
}

function all(text: string, source: string, limit: bigint): string[] {
  return found(source).all(text, limit < 0n ? Infinity : Number(limit));
}

function replaced(text: string, from: string, to: string, limit: bigint): string {
  const parts = from === "" ? ["", ...text, ""] : text.split(from);
  const cut = limit < 0n ? parts.length : Math.min(Number(limit) + 1, parts.length);
  if (text.length + cut * to.length > MAX_REPLACED) throw new CelError("the text with all replaced is too long");
  const changed = parts.slice(0, cut).join(to);
  return cut === parts.length ? changed : [changed, ...parts.slice(cut)].join(from);
}

function split(text: string, by: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  if (limit === 1n) return [text];
  const parts = by === "" ? [...text] : text.split(by);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const kept = Number(limit) - 1;
  return [...parts.slice(0, kept), parts.slice(kept).join(by)];
}

/** The number of the character at JavaScript's offset; of -1, -1. */
function place(text: string, offset: number): bigint {
  return offset < 0 ? -1n : BigInt(characters(text.slice(0, offset)));
}

function indexOf(text: string, part: string, from: bigint): bigint {
  if (part === "") return from;
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  const start = offsetOf(text, from);
  return start === undefined ? -1n : place(text, text.indexOf(part, start));
}

function lastIndexOf(text: string, part: string, from: bigint): bigint {
  if (part === "") return from;
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  const start = offsetOf(text, from) ?? text.length;
  return start === text.length ? -1n : place(text, text.lastIndexOf(part, start));
}

function substring(text: string, from: bigint, to: bigint | undefined): string {
  if (to !== undefined && from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  const start = offsetOf(text, from);
  if (start === undefined) throw new CelError(`index out of range: ${from}`);
  const end = to === undefined ? text.length : offsetOf(text, to);
  if (end === undefined) throw new CelError(`index out of range: ${to}`);
  return text.slice(start, end);
}

const SPACE = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Without the spaces of Unicode around it, which aren't quite those of JavaScript. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && SPACE.test(text[start]!)) start++;
  while (end > start && SPACE.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

function join(list: readonly Value[], by: string): string {
  for (const item of list) if (typeof item !== "string") throw new CelError(`join: invalid input: ${String(item)}`);
  return list.join(by);
}
