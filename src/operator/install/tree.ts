import { Fault } from "@slipway/base";
import { DEFAULT_NAMESPACE } from "../defaults.ts";
import type { InstallValues, ValuePath } from "./values.ts";

/** Where a value comes from: the installer's choices, or the namespace it is installed into. */
export type Source = ValuePath | "namespace";

/**
 * An object of Kubernetes in which some parts are still to be chosen. `evaluate` (here) fills them in; `chart-template.ts` writes them
 * down for Helm. Both must say the same: a test holds them together.
 */
export type Tree = string | number | boolean | readonly Tree[] | { readonly [key: string]: Tree } | Hole;

/** A part that depends on values. */
export class Hole {
  readonly is: HoleKind;

  constructor(is: HoleKind) {
    this.is = is;
  }
}

export type HoleKind =
  /** The value itself, whatever its shape. */
  | { hole: "value"; from: Source }
  /** Literals and values one after the other. */
  | { hole: "text"; parts: readonly (string | { from: Source })[] }
  /** One of two; without the second one, the entry is there or not. */
  | { hole: "choice"; when: Condition; yes: Tree; no?: Tree }
  /** In a list: the items of a value. In a mapping, under any key: its entries. */
  | { hole: "all"; from: Source };

/** That some of these values is there (neither false, 0, nor empty), that one isn't, or that it is not this word. */
export type Condition = { given: readonly Source[] } | { missing: Source } | { of: Source; isNot: string };

/** A value, whatever its shape. */
export const value = (from: Source): Hole => new Hole({ hole: "value", from });

/** What is in a list or a mapping, beside what else stands where this does. */
export const allOf = (from: Source): Hole => new Hole({ hole: "all", from });

/** A string of literals and values: text`${"image.repository"}:${"image.tag"}`. */
export const text = (literals: TemplateStringsArray, ...from: Source[]): Hole =>
  textOf(
    literals.flatMap((literal, i) => [
      ...(literal === "" ? [] : [literal]),
      ...(i < from.length ? [{ from: from[i]! }] : []),
    ]),
  );

/** The same, of parts that are listed. */
export const textOf = (parts: readonly (string | { from: Source })[]): Hole => new Hole({ hole: "text", parts });

/** The entry or item is there when the condition holds; with `no`, that one otherwise. */
export const when = (condition: Condition | Source, yes: Tree, no?: Tree): Hole =>
  new Hole({
    hole: "choice",
    when: typeof condition === "string" ? { given: [condition] } : condition,
    yes,
    ...(no !== undefined && { no }),
  });

/** The value, when it is there. */
export const given = (from: Source): Hole => when(from, value(from));

const ABSENT = Symbol("absent");

/** The tree with its parts chosen: plain data. Undefined when all of it is absent. */
export function evaluate(tree: Tree, values: InstallValues, namespace = DEFAULT_NAMESPACE): unknown {
  const result = plain(tree, (from) => look(from, values, namespace));
  return result === ABSENT ? undefined : result;
}

function plain(tree: Tree, look: (from: Source) => unknown): unknown {
  if (tree instanceof Hole) return filled(tree.is, look);
  if (isList(tree))
    return tree.flatMap((item) => {
      if (item instanceof Hole && item.is.hole === "all") return look(item.is.from) as unknown[];
      const result = plain(item, look);
      return result === ABSENT ? [] : [result];
    });
  if (typeof tree !== "object") return tree;
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, entry]) => {
      if (entry instanceof Hole && entry.is.hole === "all") return Object.entries(look(entry.is.from) as object);
      const result = plain(entry, look);
      return result === ABSENT ? [] : [[key, result]];
    }),
  );
}

function filled(is: HoleKind, look: (from: Source) => unknown): unknown {
  switch (is.hole) {
    case "value":
      return look(is.from);
    case "text":
      return is.parts.map((part) => (typeof part === "string" ? part : String(look(part.from)))).join("");
    case "choice":
      if (holds(is.when, look)) return plain(is.yes, look);
      return is.no === undefined ? ABSENT : plain(is.no, look);
    case "all":
      throw new Fault("Bug", is.from, "what is in it stands in a list or a mapping");
  }
}

function holds(condition: Condition, look: (from: Source) => unknown): boolean {
  if ("isNot" in condition) return look(condition.of) !== condition.isNot;
  if ("missing" in condition) return !holds({ given: [condition.missing] }, look);
  return condition.given.some((from) => {
    const found = look(from);
    return typeof found === "object" && found !== null ? Object.keys(found).length > 0 : Boolean(found);
  });
}

function look(from: Source, values: InstallValues, namespace: string): unknown {
  if (from === "namespace") return namespace;
  return from.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], values);
}

/** Whether a tree is a list. */
export function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}
