import assert from "node:assert/strict";
import { test } from "node:test";
import { sameJson } from "@slipway/base";
import { countKeys } from "./value.ts";

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

test("the members of all objects in a value are counted, and nothing else", () => {
  assert.equal(countKeys({ a: 1, b: [{ c: null }, { c: "text" }], d: {} }), 5);
  for (const one of ["text", 1, null, [], ["text", null]]) assert.equal(countKeys(one), 0);
});
