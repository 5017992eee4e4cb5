/** CEL's operators. */
import type { Functions } from "../functions.ts";
import {
  CelError,
  compare,
  type Duration,
  equal,
  isList,
  isMap,
  joined,
  keyOf,
  Optional,
  type Timestamp,
  typeOf,
  Uint,
  type Value,
} from "../values.ts";
import { toDuration, toInt, toTimestamp, toUint } from "./ranges.ts";

const ORDERED = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const NUMBERS = ["int", "uint", "double"];
/** How an overload's name says the type. */
const title = (type: string): string => (type === "int" ? "int64" : type === "uint" ? "uint64" : type);

function divisor(value: bigint, message: string): bigint {
  if (value === 0n) throw new CelError(message);
  return value;
}

/** Adds CEL's operators. Arithmetic beyond 64 bits throws a `CelError`, as in cel-go. */
export function registerOperators(functions: Functions): void {
  const bool = (run: (a: boolean, b: boolean) => boolean) => run as (...args: never[]) => Value;
  functions
    .add(
      "_&&_",
      "logical_and",
      "(bool, bool) -> bool",
      bool((a, b) => a && b),
    )
    .add(
      "_||_",
      "logical_or",
      "(bool, bool) -> bool",
      bool((a, b) => a || b),
    )
    .add("!_", "logical_not", "(bool) -> bool", (a: boolean) => !a)
    .add("@not_strictly_false", "not_strictly_false", "(bool) -> bool", (a: boolean) => a)
    .add("_?_:_", "conditional", "(bool, A, A) -> A", (test: boolean, yes: Value, no: Value) => (test ? yes : no))
    .add("_==_", "equals", "(A, A) -> bool", equal)
    .add("_!=_", "not_equals", "(A, A) -> bool", (a: Value, b: Value) => !equal(a, b))
    .add("@in", "in_list", "(A, list(A)) -> bool", (item: Value, list: readonly Value[]) =>
      list.some((one) => equal(one, item)),
    )
    .add("@in", "in_map", "(A, map(A, B)) -> bool", (key: Value, map: ReadonlyMap<Value, Value>) =>
      map.has(keyOf(key)),
    );
  registerOrder(functions);
  registerArithmetic(functions);
  registerIndexes(functions);
}

function registerOrder(functions: Functions): void {
  const operators = {
    "_<_": ["less", (order: number) => order < 0],
    "_<=_": ["less_equals", (order: number) => order <= 0],
    "_>_": ["greater", (order: number) => order > 0],
    "_>=_": ["greater_equals", (order: number) => order >= 0],
  } as const;
  const pairs = [
    ...ORDERED.map((type) => [type, type] as const),
    ...NUMBERS.flatMap((a) => NUMBERS.filter((b) => b !== a).map((b) => [a, b] as const)),
  ];
  for (const [fn, [name, holds]] of Object.entries(operators))
    for (const [a, b] of pairs)
      functions.add(
        fn,
        a === b ? `${name}_${title(a)}` : `${name}_${title(a)}_${title(b)}`,
        `(${a}, ${b}) -> bool`,
        (x: Value, y: Value) => holds(compare(x, y) ?? Number.NaN),
      );
}

function registerArithmetic(functions: Functions): void {
  const ints = (fn: string, name: string, run: (a: bigint, b: bigint) => bigint) =>
    functions
      .add(fn, `${name}_int64`, "(int, int) -> int", (a: bigint, b: bigint) => toInt(run(a, b)))
      .add(fn, `${name}_uint64`, "(uint, uint) -> uint", (a: Uint, b: Uint) => toUint(run(a.value, b.value)));
  const doubles = (fn: string, name: string, run: (a: number, b: number) => number) =>
    functions.add(fn, `${name}_double`, "(double, double) -> double", run);
  ints("_+_", "add", (a, b) => a + b);
  ints("_-_", "subtract", (a, b) => a - b);
  ints("_*_", "multiply", (a, b) => a * b);
  ints("_/_", "divide", (a, b) => a / divisor(b, "division by zero"));
  ints("_%_", "modulo", (a, b) => {
    // There is no quotient of the least int.
    if (b === -1n) toInt(-a);
    return a % divisor(b, "modulus by zero");
  });
  doubles("_+_", "add", (a, b) => a + b);
  doubles("_-_", "subtract", (a, b) => a - b);
  doubles("_*_", "multiply", (a, b) => a * b);
  doubles("_/_", "divide", (a, b) => a / b);
  functions
    .add("-_", "negate_int64", "(int) -> int", (a: bigint) => toInt(-a))
    .add("-_", "negate_double", "(double) -> double", (a: number) => -a)
    .add("_+_", "add_string", "(string, string) -> string", (a: string, b: string) => a + b)
    .add("_+_", "add_bytes", "(bytes, bytes) -> bytes", (a: Uint8Array, b: Uint8Array) => Buffer.concat([a, b]))
    .add("_+_", "add_list", "(list(A), list(A)) -> list(A)", joined)
    .add("_+_", "add_duration_duration", "(duration, duration) -> duration", (a: Duration, b: Duration) =>
      toDuration(a.nanos + b.nanos),
    )
    .add("_+_", "add_timestamp_duration", "(timestamp, duration) -> timestamp", (a: Timestamp, b: Duration) =>
      toTimestamp(a.nanos + b.nanos),
    )
    .add("_+_", "add_duration_timestamp", "(duration, timestamp) -> timestamp", (a: Duration, b: Timestamp) =>
      toTimestamp(a.nanos + b.nanos),
    )
    .add("_-_", "subtract_duration_duration", "(duration, duration) -> duration", (a: Duration, b: Duration) =>
      toDuration(a.nanos - b.nanos),
    )
    .add("_-_", "subtract_timestamp_duration", "(timestamp, duration) -> timestamp", (a: Timestamp, b: Duration) =>
      toTimestamp(a.nanos - b.nanos),
    )
    .add("_-_", "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", (a: Timestamp, b: Timestamp) =>
      toDuration(a.nanos - b.nanos),
    );
}

function registerIndexes(functions: Functions): void {
  functions
    .add("_[_]", "index_list", "(list(A), int) -> A", item)
    .add("_[_]", "index_map", "(map(A, B), A) -> B", entry)
    .add("_[_]", "optional_list_index_value", "(optional_type(list(V)), int) -> optional_type(V)", maybe)
    .add("_[_]", "optional_map_index_value", "(optional_type(map(K, V)), K) -> optional_type(V)", maybe)
    .add("_[?_]", "list_optindex_optional_int", "(list(V), int) -> optional_type(V)", maybe)
    .add("_[?_]", "optional_list_optindex_optional_int", "(optional_type(list(V)), int) -> optional_type(V)", maybe)
    .add("_[?_]", "map_optindex_optional_value", "(map(K, V), K) -> optional_type(V)", maybe)
    .add("_[?_]", "optional_map_optindex_optional_value", "(optional_type(map(K, V)), K) -> optional_type(V)", maybe);
}

function item(list: readonly Value[], index: Value): Value {
  const at = keyOf(index);
  if (typeof at !== "bigint") throw new CelError(`unsupported index type '${typeOf(index)}' in list`);
  const found = at < 0n ? undefined : list[Number(at)];
  if (found === undefined) throw new CelError(`index out of bounds: ${at}`);
  return found;
}

function entry(map: ReadonlyMap<Value, Value>, key: Value): Value {
  const found = map.get(keyOf(key));
  if (found === undefined) throw new CelError(`no such key: ${key instanceof Uint ? key.value : String(key)}`);
  return found;
}

function maybe(target: Value, key: Value): Value {
  const of = target instanceof Optional ? target.held : target;
  if (of === undefined) return Optional.none;
  const at = keyOf(key);
  if (isMap(of)) return new Optional(of.get(at));
  if (isList(of)) return new Optional(typeof at === "bigint" && at >= 0n ? of[Number(at)] : undefined);
  throw new CelError("no such overload");
}
