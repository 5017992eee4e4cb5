import type { Checked } from "./checker.ts";
import { type Call, type Expression, type FoldExpression, RESULT } from "./expression.ts";
import { type Functions, type Overload, overloadFor } from "./functions.ts";
import { callCost } from "./runtime-cost.ts";
import { CelError, isList, isMap, keyOf, Optional, TypeValue, type Value } from "./values.ts";

/** An evaluation that took more than it may. */
export class TooCostly extends Error {}

/** Counts what an evaluation costs, in cel-go's units. */
export class Meter {
  readonly #limit: number;
  spent = 0;
  constructor(limit: number) {
    this.#limit = limit;
  }
  /** Throws `TooCostly` once the limit is exceeded. */
  spend(cost: number): void {
    this.spent += cost;
    if (this.spent > this.#limit) throw new TooCostly("operation cancelled: actual cost limit exceeded");
  }
}

/** Values by name; failures are kept as what they are until they are read. */
interface Frame {
  readonly name: string;
  readonly value: Value | CelError;
  readonly outer: Frame | undefined;
}

type Code = (frame: Frame | undefined, meter: Meter) => Value;

/** Evaluates with these variables. Throws `CelError` when it fails and `TooCostly` beyond the meter's limit. */
export type Program = (variables: Readonly<Record<string, Value>>, meter: Meter) => Value;

/** Makes an expression that was checked ready to run. */
export function programOf(expression: Expression, checked: Checked, functions: Functions): Program {
  const code = new Compiler(checked, functions).code(expression);
  return (variables, meter) => {
    let frame: Frame | undefined;
    for (const [name, value] of Object.entries(variables)) frame = { name, value, outer: frame };
    return code(frame, meter);
  };
}

class Compiler {
  readonly #checked: Checked;
  readonly #functions: Functions;

  constructor(checked: Checked, functions: Functions) {
    this.#checked = checked;
    this.#functions = functions;
  }

  code(expression: Expression): Code {
    switch (expression.kind) {
      case "literal": {
        const { value } = expression;
        return () => value;
      }
      case "name":
        return nameCode(expression.name);
      case "select":
        return this.#select(expression);
      case "call":
        return this.#call(expression);
      case "list": {
        const items = expression.items.map(({ value, optional }) => ({ code: this.code(value), optional }));
        return (frame, meter) => {
          const list: Value[] = [];
          for (const { code, optional } of items) add(code(frame, meter), optional, (value) => list.push(value));
          meter.spend(10);
          return list;
        };
      }
      case "map": {
        const entries = expression.entries.map((e) => ({
          key: this.code(e.key),
          code: this.code(e.value),
          optional: e.optional,
        }));
        return (frame, meter) => {
          const map = new Map<Value, Value>();
          for (const entry of entries) {
            const key = keyOf(entry.key(frame, meter));
            add(entry.code(frame, meter), entry.optional, (value) => map.set(key, value));
          }
          meter.spend(30);
          return map;
        };
      }
      case "message":
        throw new CelError(`unknown type: ${expression.type}`);
      case "fold":
        return this.#fold(expression);
    }
  }

  #select({ operand, field, test }: Extract<Expression, { kind: "select" }>): Code {
    const of = this.code(operand);
    return (frame, meter) => {
      const target = of(frame, meter);
      if (test) {
        const found = fieldOf(target, field);
        return found instanceof Optional ? found.held !== undefined : found !== undefined;
      }
      meter.spend(1);
      const found = fieldOf(target, field);
      if (found === undefined) throw new CelError(`no such key: ${field}`);
      return found;
    };
  }

  #call(call: Call): Code {
    const { fn } = call;
    const args = (call.target === undefined ? call.args : [call.target, ...call.args]).map((arg) => this.code(arg));
    const [first, second, third] = args as [Code, Code, Code];
    switch (fn) {
      case "_&&_":
        return logical(first, second, false);
      case "_||_":
        return logical(first, second, true);
      case "_?_:_":
        return (frame, meter) => {
          const condition = first(frame, meter);
          if (typeof condition !== "boolean") throw new CelError("no such overload");
          return condition ? second(frame, meter) : third(frame, meter);
        };
      case "@not_strictly_false":
        return (frame, meter) => {
          meter.spend(1);
          try {
            return first(frame, meter) !== false;
          } catch (error) {
            if (error instanceof CelError) return true;
            throw error;
          }
        };
      case "_?._": {
        const field = (call.args[1] as { value: string }).value;
        return (frame, meter) => {
          const target = first(frame, meter);
          meter.spend(1);
          const found = fieldOf(target, field);
          return found instanceof Optional ? found : found === undefined ? Optional.none : new Optional(found);
        };
      }
      case "_+_":
        if (isGrowing(call)) return growing(first, second);
        break;
      case "or":
        return lazily(first, second, (held) => held);
      case "orValue":
        return lazily(first, second, (held) => held.held!);
    }
    return this.#apply(call, args);
  }

  #apply(call: Call, args: readonly Code[]): Code {
    const fitting = this.#checked.overloadsOf(call);
    const all = (this.#functions.overloads(call.fn) ?? []).filter(
      (overload) => overload.member === (call.target !== undefined),
    );
    const candidates: readonly Overload[] = fitting.length === 1 ? fitting : all;
    return (frame, meter) => {
      const values = args.map((arg) => arg(frame, meter));
      const overload = overloadFor(call.fn, candidates, values);
      const result = (overload.run as (...args: Value[]) => Value)(...values);
      meter.spend(callCost(call.fn, overload.id, values, result));
      return result;
    };
  }

  #fold({ range, first, second, accu, init, condition, step, result }: FoldExpression): Code {
    const [over, begin, test, next, end] = [range, init, condition, step, result].map((part) => this.code(part)) as [
      Code,
      Code,
      Code,
      Code,
      Code,
    ];
    return (frame, meter) => {
      const elements = elementsOf(over(frame, meter), second !== undefined);
      let value: Value | CelError = begin(frame, meter);
      for (const [key, item] of elements) {
        let inner: Frame = { name: accu, value, outer: frame };
        inner = { name: first, value: key, outer: inner };
        if (second !== undefined) inner = { name: second, value: item, outer: inner };
        if (test(inner, meter) !== true) break;
        value = attempted(next, inner, meter);
      }
      return end({ name: accu, value, outer: frame }, meter);
    };
  }
}

function nameCode(name: string): Code {
  return (frame, meter) => {
    meter.spend(1);
    for (let at = frame; at !== undefined; at = at.outer) {
      if (at.name !== name) continue;
      if (at.value instanceof CelError) throw at.value;
      return at.value;
    }
    return new TypeValue(name);
  };
}

function attempted(code: Code, frame: Frame | undefined, meter: Meter): Value | CelError {
  try {
    return code(frame, meter);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

/** `&&` and `||`: one side that decides does, even where the other fails. */
function logical(first: Code, second: Code, deciding: boolean): Code {
  return (frame, meter) => {
    const left = attempted(first, frame, meter);
    if (left === deciding) return deciding;
    const right = attempted(second, frame, meter);
    if (right === deciding) return deciding;
    for (const side of [left, right]) {
      if (side instanceof CelError) throw side;
      if (typeof side !== "boolean") throw new CelError("no such overload");
    }
    return !deciding;
  };
}

/** Whether a call adds elements to the list that a macro's loop makes, which nothing else sees before it is whole. */
function isGrowing({ args: [list, more] }: Call): boolean {
  return list?.kind === "name" && list.name === RESULT && more?.kind === "list";
}

function growing(list: Code, more: Code): Code {
  return (frame, meter) => {
    const grown = list(frame, meter) as Value[];
    for (const item of more(frame, meter) as readonly Value[]) grown.push(item);
    meter.spend(1);
    return grown;
  };
}

function lazily(first: Code, second: Code, held: (optional: Optional) => Value): Code {
  return (frame, meter) => {
    const optional = first(frame, meter);
    if (!(optional instanceof Optional)) throw new CelError("no such overload");
    return optional.held === undefined ? second(frame, meter) : held(optional);
  };
}

function add(value: Value, optional: boolean, keep: (value: Value) => void): void {
  if (!optional) keep(value);
  else if (!(value instanceof Optional)) throw new CelError("no such overload");
  else if (value.held !== undefined) keep(value.held);
}

/** A field of an object or map; of an optional, an optional of it. */
function fieldOf(target: Value, field: string): Value | undefined {
  if (target instanceof Optional) {
    if (target.held === undefined) return Optional.none;
    const found = fieldOf(target.held, field);
    return found === undefined ? Optional.none : new Optional(found);
  }
  if (!isMap(target)) throw new CelError("no such overload");
  return target.get(field);
}

function elementsOf(range: Value, pairs: boolean): Iterable<readonly [Value, Value]> {
  if (isList(range)) return range.map((item, i) => (pairs ? [BigInt(i), item] : [item, null]));
  if (isMap(range)) return range;
  throw new CelError("no such overload");
}
