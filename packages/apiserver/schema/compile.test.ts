import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Schema } from "../model/served.ts";
import { compile } from "./compile.ts";

/** An object whose `spec` has one field `it` of the given schema. */
const holding = (it: Schema, more: Schema = {}): Schema => ({
  type: "object",
  properties: { spec: { type: "object", ...more, properties: { it, ...more.properties } } },
});
const judge = (it: Schema, value: unknown, old?: unknown): string[] =>
  compile(holding(it))
    .validate({ spec: { it: value } }, old === undefined ? undefined : { spec: { it: old } })
    .map((e) => `${e.field}: ${e.message}`);

const string: Schema = { type: "string" };
const integer: Schema = { type: "integer" };
const list = (items: Schema, more: Schema = {}): Schema => ({ type: "array", items, ...more });
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...more,
});

const refusals: [schema: Schema, value: unknown, ...messages: string[]][] = [
  [integer, "two", 'spec.it: Invalid value: "string": spec.it in body must be of type integer: "string"'],
  [
    integer,
    1.5,
    'spec.it: Invalid value: "number": spec.it in body must be of type integer: "number"',
    ': Invalid value: "": Checked value must be of type integer (default format) in spec.it',
  ],
  [string, 5, 'spec.it: Invalid value: "integer": spec.it in body must be of type string: "integer"'],
  [string, null, 'spec.it: Invalid value: "null": spec.it in body must be of type string: "null"'],
  [object({}), [], 'spec.it: Invalid value: "array": spec.it in body must be of type object: "array"'],
  [
    { "x-kubernetes-int-or-string": true },
    true,
    'spec.it: Invalid value: "boolean": spec.it in body must be of type integer,string: "boolean"',
  ],
  [{ ...string, enum: ["a", "b"] }, "c", 'spec.it: Unsupported value: "c": supported values: "a", "b"'],
  [{ ...integer, minimum: 0 }, -1, "spec.it: Invalid value: -1: spec.it in body should be greater than or equal to 0"],
  [
    { ...integer, minimum: 0, exclusiveMinimum: true },
    0,
    "spec.it: Invalid value: 0: spec.it in body should be greater than 0",
  ],
  [{ ...integer, maximum: 3 }, 4, "spec.it: Invalid value: 4: spec.it in body should be less than or equal to 3"],
  [{ ...integer, multipleOf: 2 }, 3, "spec.it: Invalid value: 3: spec.it in body should be a multiple of 2"],
  [
    { ...integer, format: "int32" },
    2 ** 31,
    ': Invalid value: "": Checked value must be of type integer with format int32 in spec.it',
  ],
  [{ ...string, maxLength: 3 }, "abcd", "spec.it: Too long: may not be more than 3 bytes"],
  [{ ...string, minLength: 1 }, "", 'spec.it: Invalid value: "": spec.it in body should be at least 1 chars long'],
  [{ ...string, pattern: "^[a-z]+$" }, "A", `spec.it: Invalid value: "A": spec.it in body should match '^[a-z]+$'`],
  [
    { ...string, format: "ipv4" },
    "1.2.3",
    'spec.it: Invalid value: "1.2.3": spec.it in body must be of type ipv4: "1.2.3"',
  ],
  [list(string, { maxItems: 1 }), ["a", "b"], "spec.it: Too many: 2: must have at most 1 item"],
  [list(string, { minItems: 1 }), [], "spec.it: Invalid value: 0: spec.it in body should have at least 1 items"],
  [
    list(integer),
    [1, "x"],
    'spec.it[1]: Invalid value: "string": spec.it[1] in body must be of type integer: "string"',
  ],
  [list(string, { "x-kubernetes-list-type": "set" }), ["a", "a"], 'spec.it[1]: Duplicate value: "a"'],
  [
    list(object({ k: string, v: integer }), { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }),
    [
      { k: "a", v: 1 },
      { k: "a", v: 2 },
    ],
    'spec.it[1]: Duplicate value: {"k":"a"}',
  ],
  [object({ a: string }, { required: ["a"] }), {}, "spec.it.a: Required value"],
  [
    { type: "object", additionalProperties: integer },
    { x: "y" },
    'spec.it.x: Invalid value: "string": spec.it.x in body must be of type integer: "string"',
  ],
  [
    { type: "object", additionalProperties: integer, maxProperties: 1 },
    { x: 1, y: 2 },
    "spec.it: Too many: 2: must have at most 1 item",
  ],
  [
    object({ a: string, b: string }, { oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    { a: "1", b: "2" },
    ': Invalid value: "": "spec.it" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  ...["oneOf", "anyOf", "allOf"].map((alone): (typeof refusals)[number] => {
    const said = {
      oneOf: "one and only one schema (oneOf). Found none valid",
      anyOf: "at least one schema (anyOf)",
      allOf: "all the schemas (allOf). None validated",
    }[alone];
    const messages = [`: Invalid value: "": "spec.it" must validate ${said}`, "spec.it.a: Required value"];
    const inOrder = alone === "allOf" ? messages.reverse() : messages;
    return [object({ a: string }, { [alone]: [{ required: ["a"] }] }), {}, ...inOrder];
  }),
  [
    object({ a: string, b: string }, { anyOf: [{ required: ["a"] }, { required: ["b"] }] }),
    {},
    ': Invalid value: "": "spec.it" must validate at least one schema (anyOf)',
    "spec.it.a: Required value",
  ],
  [
    object({ a: string }, { not: { required: ["a"] } }),
    { a: "" },
    ': Invalid value: "": "spec.it" must not validate the schema (not)',
  ],
  [
    { ...string, allOf: [{ pattern: "^a" }, { pattern: "b$" }] },
    "ac",
    `spec.it: Invalid value: "ac": spec.it in body should match 'b$'`,
    ': Invalid value: "": "spec.it" must validate all the schemas (allOf)',
  ],
  [
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    { kind: "Pod" },
    "spec.it.apiVersion: Required value",
  ],
];

for (const [schema, value, ...messages] of refusals)
  test(`refused: ${JSON.stringify(value)} as ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(judge(schema, value), messages);
  });

const accepted: [schema: Schema, value: unknown][] = [
  [{ ...string, nullable: true }, null],
  [{ type: "number" }, 3],
  [{ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }, "10%"],
  [{ ...string, maxLength: 2 }, "💧💧"],
  [{ ...string, format: "date-time" }, "2026-02-28T23:59:60.123+01:00"],
  [{ ...string, format: "cidr" }, "fd00::/8"],
  [{ ...string, format: "duration" }, "1h30m"],
  [{ ...string, format: "no-such-format" }, "anything"],
  [{ "x-kubernetes-preserve-unknown-fields": true }, { any: ["thing", null] }],
  [{ ...string, pattern: "(?i)^[[:alpha:]]+\\z" }, "AbC"],
];

for (const [schema, value] of accepted)
  test(`accepted: ${JSON.stringify(value)} as ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(judge(schema, value), []);
  });

test("unknown fields are dropped and named, known ones and open parts stay", () => {
  const { prune } = compile(
    holding(list(object({ a: string })), {
      properties: {
        open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { in: object({}) } },
      },
    }),
  );
  const value = {
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "n", labels: { any: "thing" }, colour: "red" },
    spec: { it: [{ a: "1", bar: 2 }], foo: 1, open: { x: 1, in: { y: 2 } } },
    extra: true,
  };

  assert.deepEqual(prune(value), ["metadata.colour", "extra", "spec.foo", "spec.it[0].bar", "spec.open.in.y"]);
  assert.deepEqual(value, {
    apiVersion: "v1",
    kind: "X",
    metadata: { name: "n", labels: { any: "thing" } },
    spec: { it: [{ a: "1" }], open: { x: 1, in: {} } },
  } as never);
});

test("an embedded object keeps its identity and labels", () => {
  const { prune } = compile(
    holding({ type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: object({}) } }),
  );
  const value = {
    spec: { it: { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: "b" } }, spec: { x: 1 }, y: 2 } },
  };

  assert.deepEqual(prune(value), ["spec.it.spec.x", "spec.it.y"]);
});

test("defaults fill what is absent, and null where null is not allowed", () => {
  const { applyDefaults } = compile(
    holding(list(object({ mode: { ...string, default: "auto" }, note: string })), {
      properties: {
        size: { ...integer, default: 3 },
        label: { ...string, nullable: true, default: "x" },
        sub: object({ deep: { ...integer, default: 1 } }, { default: {} }),
      },
    }),
  );
  const value = { spec: { it: [{}, { mode: null, note: null }], size: null, label: null } };
  applyDefaults(value);

  assert.deepEqual(value, {
    spec: { it: [{ mode: "auto" }, { mode: "auto" }], size: 3, label: null, sub: { deep: 1 } },
  } as never);
});

test("what did not change is not judged again on an update", () => {
  const strict = { ...string, maxLength: 1 };

  assert.deepEqual(judge(strict, "long", "long"), []);
  assert.equal(judge(strict, "longer", "long").length, 1);
  assert.deepEqual(judge(list(strict, { "x-kubernetes-list-type": "set" }), ["long"], ["long"]), []);
});

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>;
const scalars: fc.Arbitrary<Schema> = fc.constantFrom<Schema>(
  string,
  integer,
  { ...integer, default: 1 },
  { ...string, nullable: true, default: "d" },
  { ...string, format: "date-time" },
  { type: "boolean" },
  { "x-kubernetes-int-or-string": true },
  { "x-kubernetes-preserve-unknown-fields": true },
);
const { schema: schemas } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    scalars,
    fc
      .dictionary(fc.constantFrom("", "a", "b", "__proto__", "spec"), tie("schema"))
      .map((properties) => object({ ...properties })),
    tie("schema").map((items) => list(items)),
    tie("schema").map((items) => list(items, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] })),
    tie("schema").map((additionalProperties): Schema => ({ type: "object", additionalProperties })),
  ),
}));

test("any JSON is judged without an exception, and the same twice", () => {
  fc.assert(
    fc.property(schemas, json, json, (schema, value, old) => {
      const { validate } = compile(holding(schema));
      assert.deepEqual(
        validate({ spec: { it: value } }, { spec: { it: old } }),
        validate({ spec: { it: value } }, { spec: { it: old } }),
      );
      assert.ok(Array.isArray(validate(value)));
    }),
  );
});

test("pruning and defaulting twice is the same as once", () => {
  fc.assert(
    fc.property(schemas, json, (schema, value) => {
      const { prune, applyDefaults } = compile(holding(schema));
      const whole = structuredClone({ spec: { it: value } });
      prune(whole);
      applyDefaults(whole);
      const once = structuredClone(whole);
      assert.deepEqual(prune(whole), []);
      applyDefaults(whole);
      assert.deepEqual(whole, once);
    }),
  );
});

test("a value is always accepted as its own successor when it has no rules", () => {
  fc.assert(fc.property(schemas, json, (schema, value) => assert.deepEqual(judge(schema, value, value), [])));
});
