import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SortedKeys } from "./sorted-keys.ts";

const made = (names: Iterable<string>): SortedKeys => {
  const keys = new SortedKeys();
  for (const name of names) keys.add(name);
  return keys;
};

test("keys come in their order from any place, whatever was added and deleted", () => {
  const names = fc.uniqueArray(fc.nat({ max: 5000 }).map(String), { maxLength: 3000, size: "max" });
  fc.assert(
    fc.property(names, fc.nat({ max: 7 }), fc.nat({ max: 5000 }).map(String), (all, step, first) => {
      const keys = made(all);
      const left = all.filter((name, i) => {
        const goes = step > 0 && i % step === 0;
        if (goes) keys.delete(name);
        return !goes;
      });
      assert.equal(keys.size, left.length);
      assert.deepEqual([...keys.from("")], left.toSorted());
      assert.deepEqual([...keys.from(first)], left.filter((name) => name >= first).toSorted());
      assert.equal(keys.before(first), left.filter((name) => name < first).length);
    }),
    { numRuns: 50 },
  );
});

test("names that only grow are in order, too", () => {
  const names = Array.from({ length: 2000 }, (_, i) => String(10_000 + i));
  assert.deepEqual([...made(names).from("")], names);
});

test("who goes through the keys misses none that stays, whatever changes meanwhile", () => {
  const names = Array.from({ length: 2000 }, (_, i) => String(10_000 + i));
  const keys = made(names);
  const seen: string[] = [];
  for (const key of keys.from("")) {
    seen.push(key);
    if (key.length > 5) continue;
    if (Number(key) % 2 === 0) keys.delete(key);
    keys.add(`${key}-new`);
  }
  assert.deepEqual(
    seen,
    names.flatMap((name) => [name, `${name}-new`]),
  );
});

test("a key that is not there can't be deleted", () => {
  assert.throws(() => made(["a"]).delete("b"), RangeError);
  assert.throws(() => made([]).delete("b"), RangeError);
});
