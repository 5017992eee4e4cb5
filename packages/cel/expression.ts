import type { Value } from "./values.ts";

/** A CEL expression after its macros are expanded. `at`: the place in the source that messages about it mark. */
export type Expression = { readonly at: number } & (
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "name"; name: string }
  | { readonly kind: "select"; readonly operand: Expression; readonly field: string; readonly test: boolean }
  | { readonly kind: "call"; fn: string; target: Expression | undefined; readonly args: readonly Expression[] }
  | { readonly kind: "list"; readonly items: readonly Item[] }
  | { readonly kind: "map"; readonly entries: readonly MapEntry[] }
  | { readonly kind: "message"; readonly type: string; readonly fields: readonly Expression[] }
  | ({ readonly kind: "fold" } & Fold)
);

export interface Item {
  readonly value: Expression;
  readonly optional: boolean;
}

export interface MapEntry extends Item {
  readonly key: Expression;
}

/** What all comprehensions come to: a value that grows with each element of a list or key of a map, as long as the condition holds. */
export interface Fold {
  readonly range: Expression;
  readonly first: string;
  /** With it, `first` is the index or key, and this the element or value. */
  readonly second: string | undefined;
  readonly accu: string;
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

export type Call = Extract<Expression, { kind: "call" }>;
export type FoldExpression = Extract<Expression, { kind: "fold" }>;

/** Name of the value that a macro's fold grows. */
export const RESULT = "@result";

/** The place of what is wrong with an expression as a whole. */
export const NOWHERE = -1;
/** How many issues of one expression are reported. */
const MAX_ISSUES = 100;

/** What is wrong at a place of an expression. */
export interface Issue {
  readonly at: number;
  readonly message: string;
}

/** An expression that can't be used, with everything that is wrong with it. */
export class ExpressionError extends Error {
  constructor(source: string, issues: readonly Issue[]) {
    const listed = issues
      .slice(0, MAX_ISSUES)
      .toSorted((a, b) => a.at - b.at)
      .map((issue) => shown(source, issue));
    const left = issues.length - listed.length;
    super([...listed, ...(left > 0 ? [`${left} more errors were truncated`] : [])].join("\n"));
  }
}

/** An issue with the line it stands in and a mark below, as cel-go prints it. */
function shown(source: string, { at, message }: Issue): string {
  if (at === NOWHERE) return `ERROR: <input>:-1:0: ${message}`;
  const before = source.slice(0, at).split("\n");
  const line = source.split("\n")[before.length - 1]!.replaceAll("\t", " ");
  const column = [...before.at(-1)!].length;
  return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${".".repeat(column)}^`;
}

/** What an expression is made of, in the order in which it is written. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "name":
      return [];
    case "select":
      return [expression.operand];
    case "call":
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case "list":
      return expression.items.map(({ value }) => value);
    case "map":
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case "message":
      return expression.fields;
    case "fold":
      return [expression.range, expression.init, expression.condition, expression.step, expression.result];
  }
}

/** The same expression in other objects, for a macro that uses an operand twice. */
export function copyOf(expression: Expression): Expression {
  switch (expression.kind) {
    case "literal":
    case "name":
      return { ...expression };
    case "select":
      return { ...expression, operand: copyOf(expression.operand) };
    case "call":
      return {
        ...expression,
        target: expression.target && copyOf(expression.target),
        args: expression.args.map(copyOf),
      };
    case "list":
      return { ...expression, items: expression.items.map((item) => ({ ...item, value: copyOf(item.value) })) };
    case "map":
      return {
        ...expression,
        entries: expression.entries.map((e) => ({ ...e, key: copyOf(e.key), value: copyOf(e.value) })),
      };
    case "message":
      return { ...expression, fields: expression.fields.map(copyOf) };
    case "fold":
      return {
        ...expression,
        range: copyOf(expression.range),
        init: copyOf(expression.init),
        condition: copyOf(expression.condition),
        step: copyOf(expression.step),
        result: copyOf(expression.result),
      };
  }
}
