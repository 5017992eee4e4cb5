/** Kubernetes' list functions, and CEL's extensions for lists and for lists as sets. */
import type { Functions } from "../functions.ts";
import { CelError, compare, Duration, equal, isList, type Value } from "../values.ts";

type List = readonly Value[];

const COMPARABLE = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const SUMMABLE = { int: 0n, uint: undefined, double: 0, duration: undefined } as const;

/** A longer one costs more than an evaluation may. */
const LONGEST_RANGE = 2_000_000;

/** Adds Kubernetes' functions of lists, and CEL's extensions for lists and for lists as sets. */
export function registerLists(functions: Functions): void {
  for (const type of COMPARABLE)
    functions
      .add("isSorted", `list_${type}_is_sorted_bool`, `list(${type}).() -> bool`, (list: List) =>
        list.every((item, i) => i === 0 || order(list[i - 1]!, item) <= 0),
      )
      .add("min", `list_${type}_min_${type}`, `list(${type}).() -> ${type}`, (list: List) => extreme(list, "min", -1))
      .add("max", `list_${type}_max_${type}`, `list(${type}).() -> ${type}`, (list: List) => extreme(list, "max", 1))
      .add("sort", `list_${type}_sort`, `list(${type}).() -> list(${type})`, (list: List) => sorted(list, list))
      .add(
        "@sortByAssociatedKeys",
        `list_${type}_sortByAssociatedKeys`,
        `list(T).(list(${type})) -> list(T)`,
        (list: List, keys: List) => sorted(list, keys),
      );
  const add = functions.overloads("_+_")!;
  for (const type of Object.keys(SUMMABLE))
    functions.add("sum", `list_${type}_sum_${type}`, `list(${type}).() -> ${type}`, (list: List) => {
      const adding = add.find(({ params: [a, b] }) => a?.kind === "simple" && a.name === type && b === a)!;
      if (list.length > 0) return list.reduce((sum, item) => adding.run(sum as never, item as never));
      return type === "duration" ? new Duration(0n) : type === "double" ? 0 : 0n;
    });
  functions
    .add("indexOf", "list_a_index_of_int", "list(A).(A) -> int", (list: List, item: Value) =>
      BigInt(list.findIndex((one) => equal(one, item))),
    )
    .add("lastIndexOf", "list_a_last_index_of_int", "list(A).(A) -> int", (list: List, item: Value) =>
      BigInt(list.findLastIndex((one) => equal(one, item))),
    )
    .add("slice", "list_slice", "list(T).(int, int) -> list(T)", slice)
    .add("flatten", "list_flatten", "list(list(T)).() -> list(T)", (list: List) => flat(list, 1n))
    .add("flatten", "list_flatten_int", "list(dyn).(int) -> list(dyn)", flat)
    .add("lists.range", "lists_range", "(int) -> list(int)", (count: bigint) =>
      Array.from({ length: Math.min(Math.max(Number(count), 0), LONGEST_RANGE) }, (_, i) => BigInt(i)),
    )
    .add("reverse", "list_reverse", "list(T).() -> list(T)", (list: List) => list.toReversed())
    .add("distinct", "list_distinct", "list(T).() -> list(T)", (list: List) =>
      list.filter((item, i) => list.findIndex((one) => equal(one, item)) === i),
    )
    .add("sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", holds)
    .add(
      "sets.equivalent",
      "list_sets_equivalent_list",
      "(list(T), list(T)) -> bool",
      (a: List, b: List) => holds(a, b) && holds(b, a),
    )
    .add("sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", (a: List, b: List) =>
      a.some((item) => b.some((other) => equal(item, other))),
    );
}

function holds(all: List, some: List): boolean {
  return some.every((item) => all.some((one) => equal(one, item)));
}

function order(a: Value, b: Value): number {
  const found = compare(a, b);
  if (found === undefined) throw new CelError("no such overload");
  return found;
}

function extreme(list: List, name: string, sign: 1 | -1): Value {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  return list.reduce((best, item) => (order(item, best) * sign > 0 ? item : best));
}

function sorted(list: List, keys: List): List {
  return list
    .map((item, i) => [keys[i]!, item] as const)
    .toSorted(([a], [b]) => order(a, b))
    .map(([, item]) => item);
}

function slice(list: List, from: bigint, to: bigint): List {
  const wrong = (why: string): never => {
    throw new CelError(`cannot slice(${from}, ${to}), ${why}`);
  };
  if (from < 0n || to < 0n) wrong("negative indexes not supported");
  if (from > to) wrong("start index must be less than or equal to end index");
  if (to > BigInt(list.length)) wrong(`list is length ${list.length}`);
  return list.slice(Number(from), Number(to));
}

function flat(list: List, depth: bigint): List {
  if (depth < 0n) throw new CelError("level must be non-negative");
  return list.flatMap((item) => (isList(item) && depth > 0n ? flat(item, depth - 1n) : [item]));
}
