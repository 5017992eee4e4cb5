import assert from "node:assert/strict";
import { test } from "node:test";
import { sameJson } from "./value.ts";

test("values are the same by their own fields, whatever these are called and in whatever order", () => {
  assert.equal(sameJson({ a: [1, { b: null }], c: undefined }, { a: [1, { b: null }] }), true);
  assert.equal(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 }), true);
  for (const [a, b] of [
    [{}, { constructor: "x" }],
    [{ toString: "x" }, {}],
    [[], {}],
    [{ a: 1 }, { b: 1 }],
    [{ a: null }, {}],
  ])
    assert.ok(!sameJson(a, b) && !sameJson(b, a), JSON.stringify([a, b]));
});
