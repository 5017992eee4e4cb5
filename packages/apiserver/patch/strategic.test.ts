import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { allPasses } from "../json/turns.ts";
import type { Schema } from "../model/served.ts";
import { strategicMerge } from "./strategic.ts";

const text: Schema = { type: "string" };
const any: Schema = { type: "object", additionalProperties: text };
const schema: Schema = {
  type: "object",
  properties: {
    name: text,
    labels: any,
    volume: { type: "object", properties: { a: any, b: any }, "x-kubernetes-patch-strategy": "retainKeys" },
    whole: { ...any, "x-kubernetes-patch-strategy": "replace" },
    atomic: { type: "array", items: text },
    finalizers: { type: "array", items: text, "x-kubernetes-patch-strategy": "merge" },
    containers: {
      type: "array",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
      items: { type: "object", properties: { name: text, image: text, args: { type: "array", items: text } } },
    },
  },
};

const two = {
  containers: [
    { name: "a", image: "1" },
    { name: "b", image: "1", args: ["x", "y"] },
  ],
};

const CASES: [rule: string, target: unknown, patch: unknown, result: unknown][] = [
  [
    "maps merge and null removes",
    { labels: { x: "1", y: "1" } },
    { labels: { x: null, z: "1" } },
    { labels: { y: "1", z: "1" } },
  ],
  ["null where nothing is vanishes", {}, { labels: { x: null, z: "1" } }, { labels: { z: "1" } }],
  ["a map with strategy replace is replaced", { whole: { x: "1" } }, { whole: { y: "1" } }, { whole: { y: "1" } }],
  ["a list without strategy is replaced", { atomic: ["a", "b"] }, { atomic: ["c"] }, { atomic: ["c"] }],
  [
    "a list of scalars merges without doubles",
    { finalizers: ["a", "b"] },
    { finalizers: ["b", "c"] },
    { finalizers: ["a", "b", "c"] },
  ],
  [
    "list elements merge by key",
    two,
    { containers: [{ name: "b", image: "2" }] },
    { containers: [two.containers[0], { name: "b", image: "2", args: ["x", "y"] }] },
  ],
  [
    "a new element goes before the server's",
    two,
    { containers: [{ name: "c" }] },
    { containers: [{ name: "c" }, ...two.containers] },
  ],
  [
    "$patch: delete removes the element",
    two,
    { containers: [{ name: "a", $patch: "delete" }] },
    { containers: [two.containers[1]] },
  ],
  ["$patch: delete of an absent element changes nothing", two, { containers: [{ name: "c", $patch: "delete" }] }, two],
  [
    "$patch: replace replaces the list",
    two,
    { containers: [{ $patch: "replace" }, { name: "c" }] },
    { containers: [{ name: "c" }] },
  ],
  [
    "$patch: replace replaces a map",
    { labels: { x: "1" } },
    { labels: { $patch: "replace", y: "1" } },
    { labels: { y: "1" } },
  ],
  ["$patch: delete empties a map", { labels: { x: "1" } }, { labels: { $patch: "delete" } }, { labels: {} }],
  [
    "null inside a merged element removes its field",
    two,
    { containers: [{ name: "b", args: null }] },
    { containers: [two.containers[0], { name: "b", image: "1" }] },
  ],
  [
    "$deleteFromPrimitiveList removes values",
    { finalizers: ["a", "b", "c"] },
    { "$deleteFromPrimitiveList/finalizers": ["a", "c"] },
    { finalizers: ["b"] },
  ],
  [
    "$deleteFromPrimitiveList beside additions",
    { finalizers: ["a", "b"] },
    { "$deleteFromPrimitiveList/finalizers": ["a"], finalizers: ["d"] },
    { finalizers: ["d", "b"] },
  ],
  [
    "$setElementOrder sorts elements",
    two,
    { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] },
    { containers: [two.containers[1], two.containers[0]] },
  ],
  [
    "$setElementOrder keeps elements that only the server has",
    { finalizers: ["s", "a", "b"] },
    { "$setElementOrder/finalizers": ["b", "c", "a"], finalizers: ["c"] },
    { finalizers: ["s", "b", "c", "a"] },
  ],
  [
    "$retainKeys drops the other members",
    { volume: { a: { x: "1" } } },
    { volume: { $retainKeys: ["b"], b: { y: "1" } } },
    { volume: { b: { y: "1" } } },
  ],
  [
    "a directive in a new part leaves no trace",
    {},
    { volume: { $retainKeys: ["b"], b: { y: "1" } } },
    { volume: { b: { y: "1" } } },
  ],
  [
    "a list where none was is taken over",
    {},
    { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "a" }] },
    { containers: [{ name: "a" }] },
  ],
  ["an order for a list that is absent does nothing", {}, { "$setElementOrder/containers": [{ name: "a" }] }, {}],
  ["a value of another type is replaced", { name: "x" }, { name: { a: null, b: 1 } }, { name: { b: 1 } }],
];

for (const [rule, target, patch, result] of CASES) {
  test(`strategic merge: ${rule}`, () => {
    const before = JSON.stringify([target, patch]);
    assert.deepEqual(allPasses(strategicMerge(target, patch, schema)), result);
    assert.equal(JSON.stringify([target, patch]), before);
  });
}

const REFUSED: [rule: string, patch: unknown, code: "BadRequest" | "Internal", why: RegExp][] = [
  ["a patch that is no object", [], "BadRequest", /the patch is no object/],
  [
    "an unknown directive",
    { labels: { $patch: "purge" } },
    "Internal",
    /unknown patch type: purge in map: map\[\$patch:purge\]/,
  ],
  [
    "an element without its key",
    { containers: [{ image: "x" }] },
    "Internal",
    /map: map\[image:x\] does not contain declared merge key: name/,
  ],
  ["objects and scalars in one list", { containers: ["x"] }, "Internal", /list element types are not identical/],
  ["a list to be merged in words", { containers: [{ name: "a", $patch: "merge" }] }, "Internal", /merging lists/],
  ["$retainKeys that leaves out a member set", { volume: { $retainKeys: ["a"], b: {} } }, "BadRequest", /retainKeys/],
  ["$retainKeys that is no list", { volume: { $retainKeys: "a" } }, "BadRequest", /invalid patch format of retainKeys/],
  ["an order that is no list", { "$setElementOrder/containers": {} }, "Internal", /expected a \[\]interface {}/],
  [
    "an element that its order does not name",
    { "$setElementOrder/containers": [{ name: "b" }], containers: [{ name: "c" }] },
    "Internal",
    /The order in patch list/,
  ],
];

for (const [rule, patch, code, why] of REFUSED) {
  test(`strategic merge refuses ${rule}`, () => {
    assert.throws(
      () => allPasses(strategicMerge({ ...two, labels: {}, volume: {} }, patch, schema)),
      (error) => isFault(error, code) && why.test(error.message),
    );
  });
}

const named = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"));
const listOf = (names: string[], image: string) => names.map((name) => ({ name, image }));

test("strategic merge: a patch holds all elements of both sides once, and applying it twice is applying it once", () => {
  fc.assert(
    fc.property(named, named, (old, change) => {
      const patch = { containers: listOf(change, "2") };
      const once = allPasses(strategicMerge({ containers: listOf(old, "1") }, patch, schema)) as {
        containers: { name: string }[];
      };
      assert.deepEqual(once.containers.map((c) => c.name).sort(), [...new Set([...old, ...change])].sort());
      assert.deepEqual(allPasses(strategicMerge(once, patch, schema)), once);
    }),
  );
});

test("strategic merge: without lists and directives it is a merge patch", async () => {
  const { mergePatch } = await import("./merge-patch.ts");
  const labels = fc.dictionary(fc.constantFrom("x", "y", "z"), fc.option(fc.string()), { noNullPrototype: true });
  fc.assert(
    fc.property(labels, labels, (old, change) => {
      const target = { labels: allPasses(mergePatch({}, old)) };
      assert.deepEqual(
        allPasses(strategicMerge(target, { labels: change }, schema)),
        allPasses(mergePatch(target, { labels: change })),
      );
    }),
  );
});
