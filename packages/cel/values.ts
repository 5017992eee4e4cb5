import { type Type, typeName } from "./types.ts";

/**
 * What an expression comes to. `bigint` is CEL's int, `number` its double; a Map is a map or an object of the schema. The
 * keys of a map are texts, booleans and numbers, where every whole number is a `bigint`.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Custom
  | readonly Value[]
  | ReadonlyMap<Value, Value>;

/** CEL's uint. */
export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment. */
export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A length of time, which may be negative. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value, or none. */
export class Optional {
  static readonly none = new Optional(undefined);
  readonly held: Value | undefined;
  constructor(held: Value | undefined) {
    this.held = held;
  }
}

/** A type as a value: what `type(1)` gives. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library's own type. */
export abstract class Custom {
  abstract readonly type: Type;
  abstract equals(other: this): boolean;
}

/** An evaluation that failed; the text is cel-go's. */
export class CelError extends Error {}

/** Lists that a schema declares as sets, or as maps by the given keys: they are compared and added as those. */
export type ListKind = "set" | readonly string[];
const listKinds = new WeakMap<object, ListKind>();

/** What a list was declared as; undefined for an ordinary one, and for what is no list. */
export function listKind(list: Value): ListKind | undefined {
  return typeof list === "object" && list !== null ? listKinds.get(list) : undefined;
}

/** Marks a list as a set or a map by keys. */
export function ofKind<T extends readonly Value[]>(list: T, kind: ListKind | undefined): T {
  if (kind !== undefined) listKinds.set(list, kind);
  return list;
}

/** Whether a value is a CEL map. */
export function isMap(value: Value): value is ReadonlyMap<Value, Value> {
  return value instanceof Map;
}

/** Whether a value is a CEL list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Under what a key stands in a map: whole numbers are the same, however they are written. */
export function keyOf(value: Value): Value {
  if (value instanceof Uint) return value.value;
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value;
}

/** The name of a value's type. */
export function typeOf(value: Value): string {
  if (value === null) return "null_type";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
  }
  if (isList(value)) return "list";
  if (isMap(value)) return "map";
  if (value instanceof Uint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  return typeName((value as Custom).type);
}

/** Whether two values are equal; those of different types aren't, but for numbers. */
export function equal(a: Value, b: Value): boolean {
  const x = a instanceof Uint ? a.value : a;
  const y = b instanceof Uint ? b.value : b;
  if (typeof x === "bigint" || typeof x === "number")
    return typeof x === typeof y
      ? x === y
      : (typeof y === "bigint" || typeof y === "number") && Number(x) === Number(y);
  if (typeof x !== "object" || x === null || typeof y !== "object" || y === null) return x === y;
  return equalObjects(x, y);
}

function equalObjects(x: Value & object, y: Value & object): boolean {
  if (isList(x)) return isList(y) && sameLists(x, y);
  if (isMap(x)) return isMap(y) && sameMaps(x, y);
  if (x instanceof Uint8Array) return y instanceof Uint8Array && Buffer.compare(x, y) === 0;
  if (x instanceof Timestamp) return y instanceof Timestamp && x.nanos === y.nanos;
  if (x instanceof Duration) return y instanceof Duration && x.nanos === y.nanos;
  if (x instanceof TypeValue) return y instanceof TypeValue && x.name === y.name;
  if (x instanceof Optional) return y instanceof Optional && sameOptionals(x, y);
  return x instanceof Custom && y instanceof Custom && x.constructor === y.constructor && x.equals(y as never);
}

function sameMaps(a: ReadonlyMap<Value, Value>, b: ReadonlyMap<Value, Value>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && equal(value, b.get(key)!));
}

function sameOptionals({ held: a }: Optional, { held: b }: Optional): boolean {
  return a === undefined || b === undefined ? a === b : equal(a, b);
}

function sameLists(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false;
  const kind = listKind(a);
  if (kind === undefined) return a.every((item, i) => equal(item, b[i]!));
  const places = new Places(kind, b);
  return a.every((item) => {
    const at = places.of(item);
    return at !== undefined && equal(item, b[at]!);
  });
}

/** Where the elements of a set or a map by keys are. */
class Places {
  readonly #kind: ListKind;
  readonly #list: Value[] = [];
  readonly #known = new Map<string, number>();
  /** Of elements that are found by comparing alone. */
  readonly #others: number[] = [];

  constructor(kind: ListKind, list: readonly Value[]) {
    this.#kind = kind;
    for (const item of list) this.add(item);
  }

  add(item: Value): void {
    const at = this.#list.push(item) - 1;
    const name = this.#name(item);
    if (name === undefined) this.#others.push(at);
    else if (!this.#known.has(name)) this.#known.set(name, at);
  }

  of(item: Value): number | undefined {
    const name = this.#name(item);
    if (name !== undefined) return this.#known.get(name);
    return this.#others.find((at) => this.#same(this.#list[at]!, item));
  }

  #same(a: Value, b: Value): boolean {
    if (this.#kind === "set") return equal(a, b);
    return isMap(a) && isMap(b) && this.#kind.every((key) => equal(a.get(key) ?? null, b.get(key) ?? null));
  }

  #name(item: Value): string | undefined {
    const keys = this.#kind === "set" ? [item] : isMap(item) ? this.#kind.map((key) => item.get(key) ?? null) : [];
    const names = keys.map(keyOf).map((key) => (key === null || typeof key !== "object" ? `${typeof key} ${key}` : ""));
    return names.length === 0 || names.includes("") ? undefined : JSON.stringify(names);
  }
}

/** `a + b` of lists; elements that a set or a map by keys has are not doubled, and the later of two with the same keys stays. */
export function joined(a: readonly Value[], b: readonly Value[]): readonly Value[] {
  const kind = listKind(a);
  if (kind === undefined) return [...a, ...b];
  const all = [...a];
  const places = new Places(kind, a);
  for (const item of b) {
    const at = places.of(item);
    if (at === undefined) {
      all.push(item);
      places.add(item);
    } else if (kind !== "set") all[at] = item;
  }
  return ofKind(all, kind);
}

/** Which of two values is greater (negative: the second); undefined where they have no order. */
export function compare(a: Value, b: Value): number | undefined {
  const x = a instanceof Uint ? a.value : a;
  const y = b instanceof Uint ? b.value : b;
  if (isNumber(x) && isNumber(y)) return compareNumbers(x, y);
  if (typeof x === "string" && typeof y === "string") return Buffer.compare(Buffer.from(x), Buffer.from(y));
  if (typeof x === "boolean" && typeof y === "boolean") return Number(x) - Number(y);
  if (x instanceof Uint8Array && y instanceof Uint8Array) return Buffer.compare(x, y);
  if (x instanceof Timestamp && y instanceof Timestamp) return compareNumbers(x.nanos, y.nanos);
  if (x instanceof Duration && y instanceof Duration) return compareNumbers(x.nanos, y.nanos);
  return undefined;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

/** NaN has no order. */
function compareNumbers(x: bigint | number, y: bigint | number): number {
  const [m, n] = typeof x === typeof y ? [x, y] : [Number(x), Number(y)];
  if (m < n) return -1;
  if (m > n) return 1;
  return m === n ? 0 : Number.NaN;
}
