import { check } from "./checker.ts";
import { failingConversion } from "./constants.ts";
import { estimate } from "./estimate.ts";
import { type Program, programOf } from "./evaluator.ts";
import { ExpressionError } from "./expression.ts";
import { functions } from "./library/all.ts";
import { literalIssues } from "./literals.ts";
import { parse } from "./parser.ts";
import type { Declared, Type } from "./types.ts";

/** The longest expression that is looked at. */
const MAX_CHARS = 100_000;

/** An expression that can be run. */
export interface Compiled {
  readonly type: Type;
  readonly reads: ReadonlySet<string>;
  readonly run: Program;
  /** What fails before it runs. */
  readonly failing: string | undefined;
  /** The most that it may cost on a value of `self`. */
  cost(self: Declared): number;
}

/** Compiles an expression that reads these variables. Throws `ExpressionError`. */
export function compile(source: string, variables: ReadonlyMap<string, Type>): Compiled {
  if (source.length > MAX_CHARS)
    throw new ExpressionError(source.slice(0, 100), [
      { at: 0, message: `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_CHARS}` },
    ]);
  const expression = parse(source);
  const checked = check(expression, functions, variables);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(expression, checked);
  if (issues.length > 0) throw new ExpressionError(source, issues);
  return {
    type: checked.type,
    reads: checked.reads,
    failing: failingConversion(expression, checked, functions),
    run: programOf(expression, checked, functions),
    cost: (self) => estimate(expression, checked, self),
  };
}
