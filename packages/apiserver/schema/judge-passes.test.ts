import assert from "node:assert/strict";
import { test } from "node:test";
import type { Passes } from "../json/turns.ts";
import type { Schema } from "../model/served.ts";
import { compile } from "./compile.ts";

const N = 6000;
const each = <T>(make: (i: number) => T): T[] => Array.from({ length: N }, (_, i) => make(i));
const object = (spec: Schema): Schema => ({ type: "object", properties: { spec } });
const members = Object.fromEntries(each((i) => [`k${i}`, "a"]));
const patterns = each((i) => ({ pattern: `^p${i}$` }));

const kinds: readonly [name: string, schema: Schema, value: unknown][] = [
  [
    "values",
    object({ type: "object", additionalProperties: { type: "array", items: { type: "string" } } }),
    { k: each(() => "a").concat(each(() => "b")), ...Object.fromEntries(each((i) => [`k${i}`, ["a"]])) },
  ],
  [
    "patterns of its fields",
    object({
      type: "object",
      properties: Object.fromEntries(each((i) => [`k${i}`, { type: "string", pattern: "a" }])),
    }),
    members,
  ],
  ["patterns of one text", object({ type: "string", anyOf: patterns }), "p"],
  [
    "a pattern of many letters",
    object({ type: "array", items: { type: "string", pattern: "a".repeat(N) } }),
    Array(8).fill("a"),
  ],
  [
    "rules of one field",
    object({ type: "integer", "x-kubernetes-validations": each((i) => ({ rule: `self != ${i}` })) }),
    -1,
  ],
];

for (const [name, schema, spec] of kinds)
  test(`others have their turn while the first object of a kind is judged: ${name}`, () => {
    const { judge, isLarge } = compile(schema);
    assert.ok(yieldsOf(judge({ spec })) >= 8);
    assert.equal(isLarge, name !== "values");
  });

test("others have their turn while defaults are filled into very many values", () => {
  const items = { type: "object", properties: { a: { type: "string", default: "b" } } } as const;
  const value = { spec: [...each((): Record<string, string> => ({})), ...each(() => ({}))] };
  assert.ok(yieldsOf(compile(object({ type: "array", items })).fill(value)) >= 3);
  assert.deepEqual(value.spec.at(-1), { a: "b" });
});

test("a small schema is ready at once", () => {
  assert.equal(compile(object({ type: "string", pattern: "a" })).isLarge, false);
});

function yieldsOf(passes: Passes<unknown>): number {
  let yields = 0;
  while (passes.next().done !== true) yields++;
  return yields;
}
