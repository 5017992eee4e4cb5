import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf, type Schema } from "./schema-check.ts";

const named: Record<string, Schema> = {
  text: { type: "string" },
  again: { $ref: "text" },
  list: { type: "array", items: { $ref: "list" } },
};
const check = (value: unknown, schema: Schema, strict = false): string[] =>
  problemsOf(value, schema, { strict, resolve: (ref) => named[ref]! });

test("a value that the schema allows has no problems, one that it does not is named with its path", () => {
  const table: [unknown, Schema, string[]][] = [
    ["a", { type: "string" }, []],
    [1, { type: "string" }, ["body: not of type string"]],
    [1.5, { type: "integer" }, ["body: not of type integer"]],
    [1.5, { type: "number" }, []],
    [[], { type: "object" }, ["body: not of type object"]],
    [{}, { type: "object" }, []],
    [{}, { type: "array" }, ["body: not of type array"]],
    [true, { type: "boolean" }, []],
    [1, { type: "anything" }, []],
    ["c", { enum: ["a", "b"] }, ['body: "c" is not in the enum']],
    ["a", { enum: ["a", "b"] }, []],
    [1, { enum: ["a"], type: "string" }, ["body: 1 is not in the enum", "body: not of type string"]],
    [1, { minimum: 2 }, ["body: 1 is out of bounds"]],
    [2, { minimum: 2, maximum: 2 }, []],
    [3, { maximum: 2 }, ["body: 3 is out of bounds"]],
    ["ab", { minLength: 3 }, ["body: of size 2"]],
    ["ab", { minLength: 2, maxLength: 2 }, []],
    ["abc", { maxLength: 2 }, ["body: of size 3"]],
    ["x", { pattern: "^\\d+$" }, ['body: "x" does not match ^\\d+$']],
    ["1", { pattern: "^\\d+$" }, []],
    [[1], { minItems: 2 }, ["body: of size 1"]],
    [[1, 2], { minItems: 2, maxItems: 2 }, []],
    [[1, 2], { maxItems: 1 }, ["body: of size 2"]],
    [["a", 1], { items: { type: "string" } }, ["body[1]: not of type string"]],
    [{ a: 1 }, { required: ["a", "b"] }, ["body.b: missing"]],
    [{ a: 1 }, { properties: { a: { type: "string" } } }, ["body.a: not of type string"]],
    [{ a: undefined }, { properties: { a: { type: "string" } }, additionalProperties: false }, []],
    [{ b: 1 }, { additionalProperties: { type: "string" } }, ["body.b: not of type string"]],
    [{ b: 1 }, { additionalProperties: false }, ["body.b: not in the document"]],
    [{ b: 1 }, { properties: {} }, []],
    ["a", { $ref: "again" }, []],
    [[[]], { $ref: "list" }, []],
    [[["a"]], { $ref: "list" }, ["body[0][0]: not of type array"]],
    ["a", { allOf: [{ type: "string" }, { enum: ["b"] }] }, ['body: "a" is not in the enum']],
    ["a", { oneOf: [{ type: "number" }, { type: "string" }] }, []],
    ["a", { anyOf: [{ type: "number" }] }, ["body: fits none of the choices (body: not of type number)"]],
  ];
  for (const [value, schema, problems] of table)
    assert.deepEqual(check(value, schema), problems, JSON.stringify(schema));
});

test("null is allowed where the schema, or a part of its choice, says so, and where it says nothing of a type", () => {
  for (const schema of [
    { nullable: true, type: "string" },
    {},
    { enum: ["a", null] },
    { oneOf: [{ type: "string" }, { type: "string", nullable: true }] },
    { anyOf: [{}] },
    { allOf: [{ nullable: true }] },
  ])
    assert.deepEqual(check(null, schema), [], JSON.stringify(schema));
  for (const schema of [{ type: "string" }, { enum: ["a"] }, { oneOf: [{ type: "string" }] }])
    assert.deepEqual(check(null, schema), ["body: null"], JSON.stringify(schema));
});

test("what we send has no field that the document does not name, in any part of a choice", () => {
  const fields: Schema = { properties: { a: {} } };
  assert.deepEqual(check({ a: 1, b: 1 }, fields, true), ["body.b: not in the document"]);
  assert.deepEqual(check({ a: 1, b: 1 }, { ...fields, allOf: [{ properties: { b: {} } }] }, true), []);
  assert.deepEqual(check({ c: 1 }, { ...fields, anyOf: [{ properties: { b: {} } }] }, true), [
    "body.c: not in the document",
  ]);
  assert.deepEqual(check({ c: 1 }, { ...fields, oneOf: [{}] }, true), [], "a part that leaves its fields open");
  assert.deepEqual(check({ c: 1 }, { additionalProperties: true }, true), []);
  assert.deepEqual(check({ c: 1 }, {}, true), []);
});
