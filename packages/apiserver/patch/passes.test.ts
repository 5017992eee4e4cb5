import assert from "node:assert/strict";
import { test } from "node:test";
import type { Passes } from "../json/turns.ts";
import type { Schema } from "../model/served.ts";
import { fieldsOf } from "./applied-fields.ts";
import { compareFields } from "./compare.ts";
import { setOfPaths } from "./field-set.ts";
import { toFieldsV1 } from "./fields-v1.ts";
import { jsonPatch } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";
import { mergeTyped } from "./merge-typed.ts";
import { memberElement } from "./path-element.ts";
import { strategicMerge } from "./strategic.ts";
import { typedErrors } from "./typed-errors.ts";

const N = 20_000;
const each = <T>(make: (i: number) => T): T[] => Array.from({ length: N }, (_, i) => make(i));
const members = (value: string) => ({ data: Object.fromEntries(each((i) => [`k${i}`, value])) });
const items = (value: string) => ({ list: each((i) => ({ name: `n${i}`, value })) });
const schema: Schema = {
  type: "object",
  properties: {
    data: { type: "object", additionalProperties: { type: "string" } },
    list: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, value: { type: "string" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "name",
    },
  },
};

const walks: [name: string, walk: (value: (text: string) => object) => Passes<unknown>][] = [
  ["a merge of what is applied", (of) => mergeTyped(of("a"), of("b"), schema)],
  ["a comparison", (of) => compareFields(of("a"), of("b"), schema)],
  ["the fields that are stated", (of) => fieldsOf(of("a"), schema)],
  ["what does not fit the schema", (of) => typedErrors(of("a"), schema)],
  ["a merge patch", (of) => mergePatch({}, { nested: of("a"), all: each((i) => i), ...members("a") })],
  ["a strategic merge patch", (of) => strategicMerge(of("a"), of("b"), schema)],
];
for (const [name, walk] of walks)
  for (const [form, value] of [
    ["members", members],
    ["items", items],
  ] as const)
    test(`others have their turn within one large object: ${name}, ${form}`, () => assertYields(walk(value)));

test("others have their turn within one large object: operations of a JSON patch", () => {
  assertYields(
    jsonPatch(
      {},
      each((i) => ({ op: "add", path: `/k${i}`, value: i })),
    ),
  );
});

test("others have their turn within one large object: the writing of owners", () => {
  assertYields(toFieldsV1(setOfPaths(each((i) => [memberElement(`k${i}`)]))));
});

/** At least once in a third of what there is. */
function assertYields(passes: Passes<unknown>): void {
  let yields = 0;
  while (passes.next().done !== true) yields++;
  assert.ok(yields >= 3, `${yields} times`);
}
