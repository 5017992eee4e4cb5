import { copyOf, type Expression, type Fold, RESULT } from "./expression.ts";

/** A macro that is called with what it can't take. */
export class MacroError extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Macros that use what they are called on twice. */
export const REPEATING: ReadonlySet<string> = new Set(["optMap", "optFlatMap"]);

/** Expressions that a macro makes; all stand where it is called. */
class Maker {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
  literal(value: boolean | bigint): Expression {
    return { kind: "literal", at: this.at, value };
  }
  name(name: string): Expression {
    return { kind: "name", at: this.at, name };
  }
  get result(): Expression {
    return this.name(RESULT);
  }
  list(...values: Expression[]): Expression {
    return { kind: "list", at: this.at, items: values.map((value) => ({ optional: false, value })) };
  }
  call(fn: string, args: readonly Expression[], target?: Expression): Expression {
    return { kind: "call", at: this.at, fn, target, args };
  }
  fold(fold: Fold): Expression {
    return { kind: "fold", at: this.at, ...fold };
  }
  /** `value` under a name in an expression. */
  bound(name: string, value: Expression, within: Expression): Expression {
    return this.fold({
      range: this.list(),
      first: "#unused",
      second: undefined,
      accu: name,
      init: value,
      condition: this.literal(false),
      step: this.name(name),
      result: within,
    });
  }
}

/** What a call of a macro stands for; undefined for a call of a function. Throws `MacroError`. */
export function expanded(
  at: number,
  fn: string,
  target: Expression | undefined,
  args: readonly Expression[],
): Expression | undefined {
  const make = new Maker(at);
  if (target === undefined) return fn === "has" && args.length === 1 ? presence(make, args[0]!) : undefined;
  return MACROS.get(fn)?.[args.length]?.(make, fn, target, args);
}

type Macro = (make: Maker, fn: string, target: Expression, args: readonly Expression[]) => Expression;

/** The macros that have a target, by their name and the number of their arguments. */
const MACROS: ReadonlyMap<string, Readonly<Record<number, Macro>>> = new Map<string, Readonly<Record<number, Macro>>>([
  ["optMap", { 2: optional }],
  ["optFlatMap", { 2: optional }],
  ["sortBy", { 2: (make, _, target, [variable, key]) => sorted(make, target, simpleName(variable!), key!) }],
  ["all", { 2: one, 3: two }],
  ["exists", { 2: one, 3: two }],
  ["exists_one", { 2: one }],
  ["existsOne", { 2: one, 3: two }],
  ["map", { 2: one, 3: one }],
  ["filter", { 2: one }],
  ["transformList", { 3: two, 4: two }],
  ["transformMap", { 3: two, 4: two }],
  ["transformMapEntry", { 3: two, 4: two }],
]);

function simpleName(expression: Expression, message = "argument must be a simple name"): string {
  if (expression.kind !== "name") throw new MacroError(expression.at, message);
  return expression.name;
}

function presence(make: Maker, of: Expression): Expression {
  if (of.kind !== "select" || of.test) throw new MacroError(of.at, "invalid argument to has() macro");
  return { ...of, at: make.at, test: true };
}

type Loop = Pick<Fold, "init" | "condition" | "step" | "result">;

function loopOf(make: Maker, fn: string, test: Expression): Loop | undefined {
  switch (fn) {
    case "all":
      return {
        init: make.literal(true),
        condition: make.call("@not_strictly_false", [make.result]),
        step: make.call("_&&_", [make.result, test]),
        result: make.result,
      };
    case "exists":
      return {
        init: make.literal(false),
        condition: make.call("@not_strictly_false", [make.call("!_", [make.result])]),
        step: make.call("_||_", [make.result, test]),
        result: make.result,
      };
    case "exists_one":
    case "existsOne":
      return {
        init: make.literal(0n),
        condition: make.literal(true),
        step: make.call("_?_:_", [test, make.call("_+_", [make.result, make.literal(1n)]), make.result]),
        result: make.call("_==_", [make.result, make.literal(1n)]),
      };
    default:
      return undefined;
  }
}

/** A loop that collects: `step`, where `test` holds. */
function collecting(make: Maker, init: Expression, step: Expression, test: Expression | undefined): Loop {
  return {
    init,
    condition: make.literal(true),
    step: test === undefined ? step : make.call("_?_:_", [test, step, make.result]),
    result: make.result,
  };
}

function one(make: Maker, fn: string, range: Expression, args: readonly Expression[]): Expression {
  const [variable, ...rest] = args as [Expression, ...Expression[]];
  const first = simpleName(
    variable,
    fn === "map" || fn === "filter" ? "argument is not an identifier" : "argument must be a simple name",
  );
  if (first === RESULT || first === "__result__")
    throw new MacroError(variable.at, "iteration variable overwrites accumulator variable");
  const value = rest.at(-1)!;
  const added = make.call("_+_", [make.result, make.list(fn === "filter" ? variable : value)]);
  const test = fn === "filter" ? value : rest.length === 2 ? rest[0] : undefined;
  const loop = loopOf(make, fn, value) ?? collecting(make, make.list(), added, test);
  return make.fold({ range, first, second: undefined, accu: RESULT, ...loop });
}

function two(make: Maker, fn: string, range: Expression, args: readonly Expression[]): Expression {
  const [key, item, ...rest] = args as [Expression, Expression, ...Expression[]];
  const first = simpleName(key);
  const second = simpleName(item);
  if (first === second) throw new MacroError(item.at, `duplicate variable name: ${second}`);
  const value = rest.at(-1)!;
  const test = rest.length === 2 ? rest[0] : undefined;
  let loop = loopOf(make, fn, value);
  if (fn === "transformList") {
    loop = collecting(make, make.list(), make.call("_+_", [make.result, make.list(value)]), test);
  } else if (loop === undefined) {
    const inserted = fn === "transformMap" ? [make.result, make.name(first), value] : [make.result, value];
    loop = collecting(make, { kind: "map", at: make.at, entries: [] }, make.call("cel.@mapInsert", inserted), test);
  }
  return make.fold({ range, first, second, accu: RESULT, ...loop });
}

function optional(make: Maker, fn: string, target: Expression, args: readonly Expression[]): Expression {
  const [first, value] = args as [Expression, Expression];
  const variable = simpleName(first, `${fn}() variable name must be a simple identifier`);
  const bound = make.bound(variable, make.call("value", [], copyOf(target)), value);
  return make.call("_?_:_", [
    make.call("hasValue", [], target),
    fn === "optMap" ? make.call("optional.of", [bound]) : bound,
    make.call("optional.none", []),
  ]);
}

function sorted(make: Maker, target: Expression, variable: string, key: Expression): Expression {
  const input = "@__sortBy_input__";
  const keys = one(make, "map", make.name(input), [make.name(variable), key]);
  return make.bound(input, target, make.call("@sortByAssociatedKeys", [keys], make.name(input)));
}
