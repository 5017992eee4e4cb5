/** Whether a character, by its code point, is one of a class. */
export type Characters = (point: number) => boolean;

/** A part of a class, as JavaScript writes it between brackets. */
export interface ClassItem {
  readonly source: string;
  /** All characters but these. */
  readonly negated: boolean;
}

/** A class of these parts together. `fold`: letters in upper and lower case are the same. */
export function charactersOf(items: readonly ClassItem[], negated: boolean, fold: boolean): Characters {
  const flags = fold ? "iu" : "u";
  const positive = items.filter((item) => !item.negated).map(({ source }) => source);
  const parts = [
    ...(positive.length > 0 ? [new RegExp(`[${positive.join("")}]`, flags)] : []),
    ...items.filter((item) => item.negated).map(({ source }) => new RegExp(`[^${source}]`, flags)),
  ];
  const has = (point: number): boolean => {
    const char = String.fromCodePoint(point);
    return parts.some((part) => part.test(char)) !== negated;
  };
  const ascii = Array.from({ length: 128 }, (_, point) => has(point));
  return (point) => ascii[point] ?? has(point);
}

/** A range of characters as part of a class. */
export function range(from: number, to: number): ClassItem {
  return { source: `${written(from)}-${written(to)}`, negated: false };
}

const written = (point: number): string => `\\u{${point.toString(16)}}`;

/** `[:alpha:]` and the like. */
export const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** `\d` and the like, all of ASCII. */
export const PERL: Readonly<Record<string, string>> = { d: "0-9", s: "\\t\\n\\f\\r ", w: "0-9A-Za-z_" };

/** The class of a category or script of Unicode; undefined when there is none of this name. */
export function property(name: string): string | undefined {
  if (name === "Any") return "\\u{0}-\\u{10ffff}";
  for (const source of [`\\p{gc=${name}}`, `\\p{sc=${name}}`])
    try {
      new RegExp(source, "u");
      return source;
    } catch {
      // Not of this kind.
    }
  return undefined;
}
