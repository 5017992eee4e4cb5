import { canonicalJson } from "../json/canonical.ts";
import { isRecord } from "../json/value.ts";

/**
 * One step of a field's path, in the notation of FieldsV1: `f:name` a member, `k:{…}` the list item with these keys,
 * `v:…` the list item that is this value, `i:n` the item at a position.
 */
export type PathElement = string;

/** The step to a member of an object: `f:NAME`. */
export function memberElement(name: string): PathElement {
  return `f:${name}`;
}

/** The step to the item of a list that has these keys: `k:{…}`. */
export function keyElement(keys: Readonly<Record<string, unknown>>): PathElement {
  return `k:${canonicalJson(keys)}`;
}

/** The step to a value of a set: `v:…`. */
export function valueElement(value: unknown): PathElement {
  return `v:${canonicalJson(value)}`;
}

/** The element in its one canonical spelling; undefined: it is none. */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.startsWith("f:")) return text;
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case "i:":
      return /^(0|-?[1-9][0-9]*)$/.test(rest) ? text : undefined;
    case "v:": {
      const value = parsed(rest);
      return value === undefined ? undefined : valueElement(value);
    }
    case "k:": {
      const keys = parsed(rest);
      return isRecord(keys) && Object.keys(keys).length > 0 ? keyElement(keys) : undefined;
    }
    default:
      return undefined;
  }
}

/** The name of a member element; undefined: it is a list item. */
export function memberName(element: PathElement): string | undefined {
  return element.startsWith("f:") ? element.slice(2) : undefined;
}

/** Members before keyed items before values before positions, each in order. */
export function compareElements(a: PathElement, b: PathElement): number {
  const rank = (element: PathElement): number => "fkvi".indexOf(element[0]!);
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** A path as conflicts name it: `.spec.containers[name="a"].image`. */
export function printPath(path: readonly PathElement[]): string {
  return path.map(printElement).join("");
}

function printElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${rest}`;
    case "k": {
      const keys = Object.entries(parsed(rest) as Record<string, unknown>);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
    }
    case "v":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
