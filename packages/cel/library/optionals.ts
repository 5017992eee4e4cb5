/** CEL's optional values, and the map that two-variable comprehensions grow. */
import type { Functions } from "../functions.ts";
import { CelError, Duration, isList, isMap, keyOf, Optional, Timestamp, Uint, type Value } from "../values.ts";

function isZero(value: Value): boolean {
  if (isList(value) || value instanceof Uint8Array) return value.length === 0;
  if (isMap(value)) return value.size === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.nanos === -62_135_596_800_000_000_000n;
  if (value instanceof Optional) return value.held === undefined;
  return value === null || value === false || value === "" || value === 0 || value === 0n;
}

/** Grows the map itself: it is the one that a macro's loop makes, which nothing else sees before it is whole. */
function inserted(map: Map<Value, Value>, entries: Iterable<readonly [Value, Value]>): Value {
  for (const [key, value] of entries) {
    if (map.has(keyOf(key))) throw new CelError(`insert failed: key ${String(key)} already exists`);
    map.set(keyOf(key), value);
  }
  return map;
}

/** Adds the functions of optional values (cel-go's `OptionalTypes`). */
export function registerOptionals(functions: Functions): void {
  const held = (list: readonly Value[]): Value =>
    list.flatMap((one) => (one instanceof Optional && one.held !== undefined ? [one.held] : []));
  functions
    .add("optional.of", "optional_of", "(V) -> optional_type(V)", (value: Value) => new Optional(value))
    .add("optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) -> optional_type(V)", (value: Value) =>
      isZero(value) ? Optional.none : new Optional(value),
    )
    .add("optional.none", "optional_none", "() -> optional_type(V)", () => Optional.none)
    .add("value", "optional_value", "optional_type(V).() -> V", ({ held }: Optional) => {
      if (held === undefined) throw new CelError("optional.none() dereference");
      return held;
    })
    .add("hasValue", "optional_hasValue", "optional_type(V).() -> bool", ({ held }: Optional) => held !== undefined)
    .add(
      "or",
      "optional_or_optional",
      "optional_type(V).(optional_type(V)) -> optional_type(V)",
      (a: Optional, b: Value) => (a.held === undefined ? b : a),
    )
    .add("orValue", "optional_orValue_value", "optional_type(V).(V) -> V", (a: Optional, b: Value) => a.held ?? b)
    .add("optional.unwrap", "optional_unwrap", "(list(optional_type(V))) -> list(V)", held)
    .add("unwrapOpt", "optional_unwrapOpt", "list(optional_type(V)).() -> list(V)", held)
    .add("first", "list_first", "list(V).() -> optional_type(V)", (list: readonly Value[]) => new Optional(list[0]))
    .add("last", "list_last", "list(V).() -> optional_type(V)", (list: readonly Value[]) => new Optional(list.at(-1)))
    .add("cel.@mapInsert", "@mapInsert_map_map", "(map(K, V), map(K, V)) -> map(K, V)", inserted)
    .add(
      "cel.@mapInsert",
      "@mapInsert_map_key_value",
      "(map(K, V), K, V) -> map(K, V)",
      (map: Map<Value, Value>, key: Value, value: Value) => inserted(map, [[key, value]]),
    );
}
