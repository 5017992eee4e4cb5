/** Kubernetes' list functions and CEL's sets extension. */
import type { Environment } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { sameCel } from "../same.ts";

type Ordered = string | number | bigint | boolean;

export function registerLists(environment: Environment): void {
  environment
    .registerFunction("list.isSorted(): bool", (list: Ordered[]) =>
      list.every((item, i) => i === 0 || (list[i - 1] as Ordered) <= item),
    )
    .registerFunction("list.sum(): dyn", sum)
    .registerFunction("list.min(): dyn", (list: Ordered[]) => extreme(list, "min", (a, b) => a < b))
    .registerFunction("list.max(): dyn", (list: Ordered[]) => extreme(list, "max", (a, b) => a > b))
    .registerFunction("list.indexOf(dyn): int", (list: unknown[], item: unknown) =>
      BigInt(list.findIndex((other) => sameCel(other, item))),
    )
    .registerFunction("list.lastIndexOf(dyn): int", (list: unknown[], item: unknown) =>
      BigInt(list.findLastIndex((other) => sameCel(other, item))),
    )
    .registerFunction("list.slice(int, int): list<dyn>", slice)
    .registerFunction("list.distinct(): list<dyn>", (list: unknown[]) =>
      list.filter((item, i) => list.findIndex((other) => sameCel(other, item)) === i),
    )
    .registerFunction("list.reverse(): list<dyn>", (list: unknown[]) => list.toReversed())
    .registerFunction("list.sort(): list<dyn>", (list: Ordered[]) =>
      list.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
    )
    .registerFunction("list.flatten(): list<dyn>", (list: unknown[]) => list.flat());

  class SetsNamespace {}
  environment
    .registerType("SetsNamespace", SetsNamespace)
    .registerConstant("sets", "SetsNamespace", new SetsNamespace())
    .registerFunction("SetsNamespace.contains(list, list): bool", (_: unknown, a: unknown[], b: unknown[]) =>
      holds(a, b),
    )
    .registerFunction(
      "SetsNamespace.equivalent(list, list): bool",
      (_: unknown, a: unknown[], b: unknown[]) => holds(a, b) && holds(b, a),
    )
    .registerFunction("SetsNamespace.intersects(list, list): bool", (_: unknown, a: unknown[], b: unknown[]) =>
      a.some((item) => b.some((other) => sameCel(item, other))),
    );
}

function holds(all: unknown[], some: unknown[]): boolean {
  return some.every((item) => all.some((other) => sameCel(other, item)));
}

function sum(list: unknown[]): unknown {
  if (list.length === 0) return 0n;
  if (list[0] instanceof Duration) return list.reduce((total, d) => (total as Duration).addDuration(d as Duration));
  if (typeof list[0] === "bigint") return list.reduce((total, n) => (total as bigint) + (n as bigint));
  return list.reduce((total, n) => (total as number) + (n as number));
}

function extreme(list: Ordered[], name: string, better: (a: Ordered, b: Ordered) => boolean): Ordered {
  if (list.length === 0) throw new RangeError(`${name} called on empty list`);
  return list.reduce((best, item) => (better(item, best) ? item : best));
}

function slice(list: unknown[], from: bigint, to: bigint): unknown[] {
  if (from < 0n || to < from || to > BigInt(list.length))
    throw new RangeError(`cannot slice(${from}, ${to}), list is length ${list.length}`);
  return list.slice(Number(from), Number(to));
}
