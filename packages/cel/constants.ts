import type { Checked } from "./checker.ts";
import { Meter, programOf } from "./evaluator.ts";
import { type Expression, partsOf } from "./expression.ts";
import type { Functions } from "./functions.ts";
import { CelError } from "./values.ts";

const CONVERSIONS = new Set("bool bytes double duration dyn int string timestamp type uint".split(" "));

/** What fails in conversions of what is written out, which cel-go makes before a program runs: the program is none then. */
export function failingConversion(expression: Expression, checked: Checked, functions: Functions): string | undefined {
  if (expression.kind === "call" && isConstant(expression))
    try {
      programOf(expression, checked, functions)({}, new Meter(Infinity));
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return error.message;
    }
  for (const part of partsOf(expression)) {
    const failing = failingConversion(part, checked, functions);
    if (failing !== undefined) return failing;
  }
  return undefined;
}

function isConstant(expression: Expression): boolean {
  if (expression.kind === "literal") return true;
  if (expression.kind !== "call" || expression.target !== undefined || expression.args.length !== 1) return false;
  return CONVERSIONS.has(expression.fn) && isConstant(expression.args[0]!);
}
