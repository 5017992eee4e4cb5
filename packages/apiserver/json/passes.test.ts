import assert from "node:assert/strict";
import { test } from "node:test";
import { sameJson } from "@slipway/base";
import fc from "fast-check";
import { copyInPasses, sameInPasses } from "./passes.ts";
import { allPasses, type Passes } from "./turns.ts";
import { copyJson, MAX_LEVELS } from "./value.ts";

const N = 20_000;
const members = Object.fromEntries(Array.from({ length: N }, (_, i) => [`k${i}`, i]));
const items = Array.from({ length: N }, (_, i) => ({ i }));

test("others have their turn within one large value that is copied or compared", () => {
  for (const value of [members, items, { nested: { members } }]) {
    assertYields(copyInPasses(value), copyJson(value));
    assertYields(sameInPasses(value, copyJson(value)), true);
  }
});

test("a copy in passes is the copy in one, and so is a comparison", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.deepEqual(allPasses(copyInPasses(a)), copyJson(a));
      for (const other of [b, copyJson(a)]) assert.equal(allPasses(sameInPasses(a, other)), sameJson(a, other));
    }),
  );
});

test("a copy in passes leaves out what JSON does not hold, and ends where a copy in one does", () => {
  const odd = { a: undefined, b: [undefined, 1n, new Date(0)], c: () => 1, ["__proto__"]: 1 };
  assert.deepEqual(allPasses(copyInPasses<unknown>(odd)), copyJson<unknown>(odd));
  assert.throws(() => allPasses(copyInPasses([1, 2, 3], 2)), /more than 2 values/);
  const deep = JSON.parse("[".repeat(MAX_LEVELS + 1) + "]".repeat(MAX_LEVELS + 1));
  assert.throws(() => allPasses(copyInPasses(deep)), /nested deeper than 512 levels/);
  for (const [a, b] of [
    [{}, { constructor: "x" }],
    [{ a: undefined }, { b: 1 }],
    [[], {}],
    [{ a: null }, {}],
    [{ a: undefined }, {}],
  ])
    assert.equal(allPasses(sameInPasses(a, b)), sameJson(a, b), JSON.stringify([a, b]));
});

function assertYields<T>(passes: Passes<T>, wanted: T): void {
  let yields = 0;
  for (;;) {
    const { done, value } = passes.next();
    if (done !== true) yields++;
    else {
      assert.deepEqual(value, wanted);
      break;
    }
  }
  assert.ok(yields >= 3, `${yields} times`);
}
