import type { Checked } from "./checker.ts";
import { callEstimate } from "./estimate-calls.ts";
import { type Call, type Expression, type FoldExpression, RESULT } from "./expression.ts";
import { capped, type Operand, type Size, sizeOf, UNKNOWN, union } from "./sizes.ts";
import type { Declared } from "./types.ts";
import { BOOL, DOUBLE, DURATION, heldBy, INT, TIMESTAMP, type Type, UINT } from "./types.ts";

/** Sizes of what a list or map holds. */
interface Entries {
  readonly list: boolean;
  readonly key: Size;
  readonly value: Size;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Size | undefined;
  readonly entries: Entries | undefined;
}

/** The most that an expression may cost, in cel-go's units: what kube-apiserver's limits count. */
export function estimate(expression: Expression, checked: Checked, self: Declared): number {
  return new Estimator(checked, self).cost(expression);
}

class Estimator {
  readonly #checked: Checked;
  readonly #self: Declared;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Size>();
  readonly #entries = new Map<Expression, Entries>();
  #locals = new Map<string, Local>();

  constructor(checked: Checked, self: Declared) {
    this.#checked = checked;
    this.#self = self;
  }

  cost(expression: Expression): number {
    switch (expression.kind) {
      case "literal":
        return 0;
      case "name":
        this.#paths.set(expression, this.#locals.get(expression.name)?.path ?? [expression.name]);
        return 1;
      case "select": {
        const operand = this.cost(expression.operand);
        if (expression.test) return operand;
        this.#paths.set(expression, [...this.#pathOf(expression.operand), expression.field]);
        const { kind } = this.#checked.typeOf(expression.operand);
        return operand + (kind === "map" || kind === "object" ? 1 : 0);
      }
      case "call":
        return this.#call(expression);
      case "list": {
        const cost = expression.items.reduce((sum, { value }) => sum + this.cost(value), 10);
        const value = this.#together(expression.items.map((item) => item.value));
        this.#entries.set(expression, { list: true, key: sizeOf(1), value });
        return capped(cost);
      }
      case "map": {
        const { entries } = expression;
        const cost = entries.reduce((sum, { key, value }) => sum + this.cost(key) + this.cost(value), 30);
        const key = this.#together(entries.map((entry) => entry.key));
        this.#entries.set(expression, { list: false, key, value: this.#together(entries.map((e) => e.value)) });
        return capped(cost);
      }
      case "message":
        return 40;
      case "fold":
        return isBinding(expression) ? this.#binding(expression) : this.#fold(expression);
    }
  }

  #together(expressions: readonly Expression[]): Size {
    if (expressions.length === 0) return sizeOf(0);
    return expressions.map((one) => this.#size(one) ?? UNKNOWN).reduce(union);
  }

  #binding(fold: FoldExpression): number {
    const cost = this.cost(fold.range) + this.cost(fold.init);
    const local = { path: this.#pathOf(fold.init), size: this.#size(fold.init), entries: this.#entriesOf(fold.init) };
    const result = this.#with({ [fold.accu]: local }, () => this.cost(fold.result));
    this.#copySizes(fold, fold.result, { [fold.accu]: local });
    return capped(cost + result);
  }

  #copySizes(to: Expression, from: Expression, locals: Record<string, Local> = {}): void {
    this.#with(locals, () => {
      const size = this.#size(from);
      const entries = this.#entriesOf(from);
      if (size !== undefined) this.#sizes.set(to, size);
      if (entries !== undefined) this.#entries.set(to, entries);
    });
  }

  #with<T>(locals: Record<string, Local>, within: () => T): T {
    const before = this.#locals;
    this.#locals = new Map([...before, ...Object.entries(locals)]);
    try {
      return within();
    } finally {
      this.#locals = before;
    }
  }

  #fold(fold: FoldExpression): number {
    const around = this.cost(fold.range) + this.cost(fold.init);
    const accu: Local = {
      path: this.#pathOf(fold.init),
      size: this.#size(fold.init),
      entries: this.#entriesOf(fold.init),
    };
    const variables = this.#variables(fold);
    let stepEntries: Entries | undefined;
    const each = this.#with({ [fold.accu]: accu, ...variables }, () => {
      const cost = this.cost(fold.condition) + this.cost(fold.step);
      stepEntries = this.#entriesOf(fold.step);
      return cost;
    });
    const result = this.#with({ [fold.accu]: accu }, () => this.cost(fold.result));
    const range = this.#size(fold.range) ?? UNKNOWN;
    if (fold.init.kind === "literal") this.#sizes.set(fold, this.#size(fold.init)!);
    else if (fold.init.kind === "list" || fold.init.kind === "map") {
      this.#sizes.set(fold, range);
      if (stepEntries !== undefined) this.#entries.set(fold, stepEntries);
    }
    return capped(around + result + capped(range.max * each));
  }

  /** What a loop's variables stand for. */
  #variables({ range, first, second }: FoldExpression): Record<string, Local> {
    const entries = this.#entriesOf(range);
    const isList = entries?.list ?? this.#checked.typeOf(range).kind === "list";
    const path = this.#pathOf(range);
    const key = { path: [...path, "@keys"], size: entries?.key, entries: undefined };
    const value = { path: [...path, "@items"], size: entries?.value, entries: undefined };
    if (second !== undefined) return { [first]: key, [second]: value };
    return { [first]: isList ? value : key };
  }

  #call(call: Call): number {
    if (call.fn === "dyn") {
      const cost = this.cost(call.args[0]!) + 1;
      this.#copySizes(call, call.args[0]!);
      return cost;
    }
    const costs = call.args.map((arg) => this.cost(arg));
    const targetCost = call.target === undefined ? 0 : this.cost(call.target);
    const args = call.args.map((arg) => this.#operand(arg));
    const target = call.target && this.#operand(call.target);
    let most = 0;
    let size: Size | undefined;
    for (const { id } of this.#checked.overloadsOf(call)) {
      const own = callEstimate({ fn: call.fn, id, target, args }, costs);
      most = Math.max(most, own.cost);
      size = eitherSize(size, own.size);
      if (id === "index_list" || id === "index_map") size = this.#element(call);
      if (id === "conditional") this.#joinEntries(call, call.args[1]!, call.args[2]!);
      if (id === "add_list") this.#joinEntries(call, call.args[0]!, call.args[1]!);
      size ??= this.#size(call);
    }
    if (size !== undefined) this.#sizes.set(call, size);
    return capped(targetCost + most);
  }

  /** Notes where the element that an index names is declared. Its size, where the elements are known. */
  #element(call: Call): Size | undefined {
    const [collection] = call.args;
    this.#paths.set(call, [...this.#pathOf(collection!), "@items"]);
    return this.#entriesOf(collection!)?.value;
  }

  #joinEntries(call: Call, first: Expression, second: Expression): void {
    const [a, b] = [this.#entriesOf(first), this.#entriesOf(second)];
    if (a && b) this.#entries.set(call, { list: a.list, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  #operand(expression: Expression): Operand {
    const type = this.#checked.typeOf(expression);
    const size = this.#size(expression);
    const path = this.#pathOf(expression);
    const items = path.length === 0 || path[0] === RESULT ? undefined : this.#declared([...path, "@items"]);
    return {
      expression,
      type,
      size: size ?? UNKNOWN,
      isSized: size !== undefined,
      itemSize: items === undefined ? UNKNOWN : { min: 0, max: items.max },
    };
  }

  #pathOf(expression: Expression): readonly string[] {
    const local = expression.kind === "name" ? this.#locals.get(expression.name) : undefined;
    return local?.path ?? this.#paths.get(expression) ?? [];
  }

  #declared([root, ...path]: readonly string[]): Declared | undefined {
    let at: Declared | undefined = root === undefined ? undefined : this.#self;
    for (const name of path) at = name === "@items" ? at?.item : name === "@keys" ? at?.key : at?.fields?.get(name);
    return at;
  }

  #entriesOf(expression: Expression): Entries | undefined {
    const own = this.#entries.get(expression);
    if (own !== undefined || expression.kind !== "name") return own;
    return this.#locals.get(expression.name)?.entries;
  }

  #size(expression: Expression): Size | undefined {
    const known = this.#sizes.get(expression) ?? literalSize(expression);
    if (known !== undefined) return known;
    const declared = this.#declared(this.#pathOf(expression));
    if (declared !== undefined) return { min: 0, max: declared.max };
    if (isScalar(this.#checked.typeOf(expression))) return sizeOf(1);
    return expression.kind === "name" ? this.#locals.get(expression.name)?.size : undefined;
  }
}

function eitherSize(a: Size | undefined, b: Size | undefined): Size | undefined {
  return a === undefined || b === undefined ? (a ?? b) : union(a, b);
}

function isBinding({ range, condition, accu }: FoldExpression): boolean {
  return (
    range.kind === "list" &&
    range.items.length === 0 &&
    condition.kind === "literal" &&
    condition.value === false &&
    accu !== "__result__"
  );
}

function literalSize(expression: Expression): Size | undefined {
  if (expression.kind === "list") return sizeOf(expression.items.length);
  if (expression.kind === "map") return sizeOf(expression.entries.length);
  if (expression.kind !== "literal") return undefined;
  const { value } = expression;
  if (typeof value === "string") return sizeOf([...value].length);
  return sizeOf(value instanceof Uint8Array ? value.length : 1);
}

const SCALARS: readonly Type[] = [BOOL, DOUBLE, DURATION, INT, TIMESTAMP, UINT];

function isScalar(type: Type): boolean {
  const held = heldBy(type);
  return held === undefined ? SCALARS.includes(type) : isScalar(held);
}
