import type { Call, Expression, FoldExpression, Issue } from "./expression.ts";
import type { Functions, Overload } from "./functions.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  ERROR,
  heldBy,
  INT,
  listOf,
  mapOf,
  moreGeneral,
  NULL,
  optionalOf,
  STRING,
  Substitutions,
  type Type,
  typeName,
  typeOfType,
  UINT,
} from "./types.ts";
import { Uint, type Value } from "./values.ts";

/** What is known of an expression after it was checked. */
export interface Checked {
  readonly type: Type;
  readonly issues: readonly Issue[];
  typeOf(expression: Expression): Type;
  /** The overloads of a call that fit its arguments; none for what is no call. */
  overloadsOf(call: Expression): readonly Overload[];
  /** Names of variables that are read. */
  readonly reads: ReadonlySet<string>;
}

/**
 * Finds the types of an expression and everything that is wrong with it, as cel-go's checker does. Calls in a namespace
 * (`sets.contains(a, b)`) become calls of functions with that name.
 */
export function check(expression: Expression, functions: Functions, variables: ReadonlyMap<string, Type>): Checked {
  const checker = new Checker(functions, variables);
  checker.type(expression);
  return {
    type: checker.typeOf(expression),
    issues: checker.issues,
    typeOf: (one) => checker.typeOf(one),
    overloadsOf: (call) => checker.overloads.get(call) ?? [],
    reads: checker.reads,
  };
}

type Scope = ReadonlyMap<string, Type>;

class Checker {
  readonly issues: Issue[] = [];
  readonly overloads = new Map<Expression, readonly Overload[]>();
  readonly reads = new Set<string>();
  readonly #functions: Functions;
  readonly #types = new Map<Expression, Type>();
  readonly #known = new Substitutions();
  #scope: Scope;
  #parameters = 0;

  constructor(functions: Functions, variables: Scope) {
    this.#functions = functions;
    this.#scope = variables;
  }

  typeOf(expression: Expression): Type {
    return this.#known.resolve(this.#types.get(expression) ?? DYN, true);
  }

  type(expression: Expression): Type {
    const type = this.#find(expression);
    this.#types.set(expression, type);
    return type;
  }

  #find(expression: Expression): Type {
    switch (expression.kind) {
      case "literal":
        return literalType(expression.value);
      case "name":
        return this.#name(expression, expression.name);
      case "select":
        return this.#select(expression);
      case "call":
        return expression.fn === "_?._" ? this.#selectOptional(expression) : this.#call(expression);
      case "list": {
        let of: Type | undefined;
        for (const { value, optional } of expression.items)
          of = this.#joined(of, this.#element(value, this.type(value), optional));
        return listOf(of ?? this.#parameter());
      }
      case "map": {
        let keys: Type | undefined;
        let values: Type | undefined;
        for (const { key, value, optional } of expression.entries) {
          keys = this.#joined(keys, this.type(key));
          values = this.#joined(values, this.#element(value, this.type(value), optional));
        }
        return mapOf(keys ?? this.#parameter(), values ?? this.#parameter());
      }
      case "message":
        for (const field of expression.fields) this.type(field);
        return this.#undeclared(expression, expression.type);
      case "fold":
        return this.#fold(expression);
    }
  }

  #issue({ at }: Expression, message: string): Type {
    this.issues.push({ at, message });
    return ERROR;
  }

  #undeclared(expression: Expression, name: string): Type {
    return this.#issue(expression, `undeclared reference to '${name}' (in container '')`);
  }

  #mismatch(expression: Expression, wanted: Type, found: Type): Type {
    return this.#issue(expression, `expected type '${typeName(wanted)}' but found '${typeName(found)}'`);
  }

  #parameter(): Type {
    return { kind: "param", name: `_var${this.#parameters++}` };
  }

  #assignable(from: Type, to: Type): boolean {
    return this.#known.assignable([from], [to]);
  }

  #name(expression: Expression, name: string): Type {
    const variable = this.#scope.get(name);
    if (variable !== undefined) {
      this.reads.add(name);
      return variable;
    }
    const type = namedType(name, this.#functions);
    return type === undefined ? this.#undeclared(expression, name) : typeOfType(type);
  }

  #select(expression: Extract<Expression, { kind: "select" }>): Type {
    const { operand, field, test } = expression;
    const name = qualified(expression);
    const type = name === undefined || test ? undefined : namedType(name, this.#functions);
    if (type !== undefined) {
      Object.assign(expression, { kind: "name", name });
      return typeOfType(type);
    }
    const found = this.#field(expression, operand, field, false);
    return test ? BOOL : this.#known.resolve(found);
  }

  #selectOptional(call: Call): Type {
    const [operand, field] = call.args as [Expression, Expression];
    this.type(field);
    return this.#known.resolve(this.#field(call, operand, (field as { value: string }).value, true));
  }

  #field(at: Expression, operand: Expression, field: string, optional: boolean): Type {
    const type = this.#known.resolve(this.type(operand));
    const held = heldBy(type);
    const target = held ?? type;
    let found: Type = DYN;
    if (target.kind === "map") found = target.of[1];
    else if (target.kind === "object")
      found = target.declared?.fields?.get(field)?.type ?? this.#issue(at, `undefined field '${field}'`);
    else if (target.kind === "param") this.#assignable(DYN, target);
    else if (target !== DYN && target !== ERROR)
      this.#issue(at, `type '${typeName(target)}' does not support field selection`);
    return held !== undefined || optional ? optionalOf(found) : found;
  }

  #call(call: Call): Type {
    const args = call.args.map((arg) => this.type(arg));
    if (call.target === undefined) {
      const overloads = this.#functions.overloads(call.fn);
      return overloads === undefined ? this.#undeclared(call, call.fn) : this.#overload(call, overloads, args);
    }
    const prefix = qualified(call.target);
    const name = `${prefix}.${call.fn}`;
    const inNamespace = prefix === undefined ? undefined : this.#functions.overloads(name);
    if (inNamespace !== undefined) {
      call.fn = name;
      call.target = undefined;
      return this.#overload(call, inNamespace, args);
    }
    const target = this.type(call.target);
    const overloads = this.#functions.overloads(call.fn);
    return overloads === undefined
      ? this.#undeclared(call, call.fn)
      : this.#overload(call, overloads, [target, ...args]);
  }

  #overload(call: Call, overloads: readonly Overload[], args: readonly Type[]): Type {
    if (call.fn === "_&&_" || call.fn === "_||_") return this.#logical(call, overloads, args);
    const fitting: Overload[] = [];
    let result: Type | undefined;
    for (const overload of overloads) {
      if (overload.member !== (call.target !== undefined)) continue;
      const [own, ...params] = this.#fresh([overload.result, ...overload.params]);
      if (!this.#known.assignable(args, params)) continue;
      fitting.push(overload);
      const given = this.#known.resolve(own!);
      if (result === undefined) result = given;
      else if (result !== DYN && typeName(result) !== typeName(given)) result = DYN;
    }
    if (result === undefined) return this.#noOverload(call, args);
    this.overloads.set(call, fitting);
    return result;
  }

  #logical(call: Call, overloads: readonly Overload[], args: readonly Type[]): Type {
    this.overloads.set(call, overloads);
    const wrong = args.filter((arg, i) => {
      if (this.#assignable(arg, BOOL)) return false;
      this.#mismatch(call.args[i]!, BOOL, arg);
      return true;
    });
    return wrong.length > 0 ? ERROR : BOOL;
  }

  #noOverload(call: Call, args: readonly Type[]): Type {
    const names = args.map((arg) => typeName(this.#known.resolve(arg, true)));
    const [target, ...rest] = names;
    const list = call.target === undefined ? `(${names.join(", ")})` : `${target}.(${rest.join(", ")})`;
    return this.#issue(call, `found no matching overload for '${call.fn}' applied to '${list}'`);
  }

  /** A signature with type parameters of its own. */
  #fresh(types: readonly Type[]): readonly Type[] {
    const own = new Map<string, Type>();
    const renamed = (type: Type): Type => {
      if (type.kind === "simple") return type;
      if (type.kind !== "param") return type.of.length === 0 ? type : ({ ...type, of: type.of.map(renamed) } as Type);
      const known = own.get(type.name) ?? this.#parameter();
      own.set(type.name, known);
      return known;
    };
    return types.map(renamed);
  }

  #element(expression: Expression, type: Type, optional: boolean): Type {
    if (!optional) return type;
    const held = heldBy(this.#known.resolve(type));
    if (held === undefined && type !== DYN) this.#mismatch(expression, optionalOf(type), type);
    return held ?? type;
  }

  /** The type of all elements so far; whether they may differ is looked at once all types are known. */
  #joined(previous: Type | undefined, type: Type): Type {
    if (previous === undefined) return type;
    return this.#assignable(previous, type) ? moreGeneral(previous, type) : DYN;
  }

  #fold(fold: FoldExpression): Type {
    this.type(fold.range);
    const accu = this.type(fold.init);
    const range = this.#known.resolve(this.#types.get(fold.range)!);
    const [first, second] = this.#elements(fold, range);
    const outer = this.#scope;
    const around = new Map(outer).set(fold.accu, accu);
    this.#scope = new Map(around).set(fold.first, first);
    if (fold.second !== undefined) this.#scope = new Map(this.#scope).set(fold.second, second);
    const within = (expression: Expression, wanted: Type): void => {
      const type = this.type(expression);
      if (!this.#assignable(wanted, type)) this.#mismatch(expression, wanted, type);
    };
    within(fold.condition, BOOL);
    within(fold.step, accu);
    this.#scope = around;
    const result = this.type(fold.result);
    this.#scope = outer;
    return this.#known.resolve(result);
  }

  #elements({ range: expression, second }: FoldExpression, range: Type): [first: Type, second: Type] {
    if (range.kind === "list") return second === undefined ? [range.of[0], DYN] : [INT, range.of[0]];
    if (range.kind === "map") return range.of as [Type, Type];
    if (range === DYN || range === ERROR || range.kind === "param") {
      this.#assignable(DYN, range);
      return [DYN, DYN];
    }
    this.#issue(
      expression,
      `expression of type '${typeName(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return [ERROR, ERROR];
  }
}

function literalType(value: Value): Type {
  if (value === null) return NULL;
  if (value instanceof Uint) return UINT;
  switch (typeof value) {
    case "boolean":
      return BOOL;
    case "bigint":
      return INT;
    case "number":
      return DOUBLE;
    case "string":
      return STRING;
    default:
      return BYTES;
  }
}

/** The type that a name stands for, where types are values. */
function namedType(name: string, functions: Functions): Type | undefined {
  return name === "timestamp" || name === "duration" || name === "null" || name === "dyn"
    ? undefined
    : functions.namedType(name);
}

/** `a.b.c` of an expression that is nothing but names. */
function qualified(expression: Expression): string | undefined {
  if (expression.kind === "name") return expression.name;
  if (expression.kind !== "select" || expression.test) return undefined;
  const of = qualified(expression.operand);
  return of === undefined ? undefined : `${of}.${expression.field}`;
}
