import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { allPasses } from "../json/turns.ts";
import { mergePatch } from "./merge-patch.ts";

const CASES: [rule: string, target: unknown, patch: unknown, result: unknown][] = [
  ["a member is set", { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  ["a member is replaced", { a: "x" }, { a: "y" }, { a: "y" }],
  ["null removes", { a: 1, b: 2 }, { a: null }, { b: 2 }],
  ["null for an absent member changes nothing", { a: 1 }, { b: null }, { a: 1 }],
  ["objects merge", { a: { x: 1, y: 2 } }, { a: { x: null, z: 3 } }, { a: { y: 2, z: 3 } }],
  ["lists are replaced whole", { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ["an object replaces a scalar, without its nulls", { a: 1 }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ["a null that is there stays", { a: null }, { b: 1 }, { a: null, b: 1 }],
  ["nulls inside lists stay", {}, { a: [null] }, { a: [null] }],
  ["objects inside lists lose their nulls", {}, { a: [{ b: null }] }, { a: [{}] }],
  ["a list in the place of an object stays as it is", { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ["a patch that is no object is the result", { a: 1 }, [1], [1]],
  ["a target that is no object counts as empty", [1], { a: 1 }, { a: 1 }],
];

for (const [rule, target, patch, result] of CASES) {
  test(`merge patch: ${rule}`, () => assert.deepEqual(allPasses(mergePatch(target, patch)), result));
}

test("merge patch: the second time changes nothing more, and no input changes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const before = JSON.stringify([target, patch]);
      // The first time a list may take an object's place, with the nulls of its own objects.
      const once = allPasses(mergePatch(allPasses(mergePatch(target, patch)), patch));
      assert.deepEqual(allPasses(mergePatch(once, patch)), once);
      assert.equal(JSON.stringify([target, patch]), before);
    }),
  );
});

test("merge patch: a member named __proto__ is data", () => {
  const result = allPasses(mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'))) as object;
  assert.deepEqual(Object.keys(result), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
});
