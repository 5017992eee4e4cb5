import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { z } from "zod";
import { apiReference } from "./api-reference.ts";
import { crdOf, schemaOf } from "./crd.ts";
import { defineKind } from "./kind.ts";
import { structuralSchema } from "./structural-schema.ts";

const Boat = defineKind({
  group: "sea.example.org",
  version: "v1",
  kind: "Boat",
  plural: "boats",
  namespaced: true,
  shortNames: ["bt"],
  description: "Something that floats.",
  spec: z.object({
    name: z.string().min(1).describe("Painted on the bow | stern."),
    oars: z.int().min(0).default(2),
    crew: z.array(z.object({ rank: z.enum(["mate", "cook"]).optional() })).optional(),
  }),
  status: z.object({ afloat: z.boolean() }),
  columns: [{ name: "Afloat", type: "boolean", jsonPath: ".status.afloat" }],
  rules: [{ path: "spec.crew[]", rule: "self.rank != 'cook'", message: "no cooks" }],
});

const shapeOf = (schema: z.ZodType): unknown => structuralSchema(z.object({ it: schema }), "spec").properties?.it;

const cases: [name: string, schema: z.ZodType, expected: unknown][] = [
  ["an integer has no bounds of its own", z.int(), { type: "integer" }],
  ["a 32-bit integer says so by its format", z.int32(), { type: "integer", format: "int32" }],
  ["bounds that were set stay", z.int().min(1).max(5), { type: "integer", minimum: 1, maximum: 5 }],
  ["an exclusive bound is a flag", z.number().gt(3), { type: "number", minimum: 3, exclusiveMinimum: true }],
  [
    "an integer or string is Kubernetes' own type",
    z.union([z.int(), z.string()]),
    { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
  ],
  ["a nullable stays one", z.string().nullable(), { type: "string", nullable: true }],
  ["literals are an enum", z.union([z.literal("a"), z.literal("b")]), { type: "string", enum: ["a", "b"] }],
  ["a default stays", z.enum(["a", "b"]).default("a"), { type: "string", enum: ["a", "b"], default: "a" }],
  ["a date needs no pattern", z.iso.datetime(), { type: "string", format: "date-time" }],
  [
    "an open object keeps what it does not know",
    z.looseObject({ a: z.string() }),
    {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      "x-kubernetes-preserve-unknown-fields": true,
    },
  ],
  [
    "a closed object is pruned like any other",
    z.strictObject({ a: z.string() }),
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  ],
  [
    "the narrowest of several lengths counts",
    z.array(z.boolean()).min(1).min(2).max(9).max(8),
    { type: "array", minItems: 2, maxItems: 8, items: { type: "boolean" } },
  ],
  [
    "several patterns of one text all count",
    z.string().regex(/^a/).regex(/b$/).max(5),
    { type: "string", maxLength: 5, allOf: [{ pattern: "^a" }, { pattern: "b$" }] },
  ],
  [
    "a step stays",
    z.number().multipleOf(0.5).lt(9),
    { type: "number", multipleOf: 0.5, maximum: 9, exclusiveMaximum: true },
  ],
  ["a text is a date by its word", z.string().meta({ format: "date-time" }), { type: "string", format: "date-time" }],
  ["what is transformed is read as it is given", z.string().transform(Number), { type: "string" }],
  ["a default that is checked stays", z.string().prefault("a"), { type: "string", default: "a" }],
  [
    "what is told last describes",
    z.string().describe("a").optional().describe("b"),
    { type: "string", description: "b" },
  ],
  [
    "what is told inside describes, too",
    z.string().describe("a").default("c"),
    { type: "string", description: "a", default: "c" },
  ],
  [
    "null beside a text makes it nullable",
    z.union([z.enum(["a"]), z.null()]),
    { type: "string", enum: ["a"], nullable: true },
  ],
  [
    "a record of anything is open",
    z.record(z.string(), z.unknown()),
    { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  ],
  ["a record is a map", z.record(z.string(), z.int()), { type: "object", additionalProperties: { type: "integer" } }],
  ["anything keeps everything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
  [
    "Kubernetes' words pass through",
    z.array(z.string()).meta({ "x-kubernetes-list-type": "set" }),
    { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
  ],
];

for (const [name, schema, expected] of cases)
  test(`schema: ${name}`, () => {
    assert.deepEqual(shapeOf(schema), expected);
  });

test("schema: a field with a default or of any type is not required", () => {
  const schema = structuralSchema(z.object({ a: z.string(), b: z.int().default(1), c: z.unknown() }), "spec");

  assert.deepEqual(schema.required, ["a"]);
});

const refused: [name: string, schema: z.ZodType, message: RegExp][] = [
  [
    "a union of shapes",
    z.union([z.object({ a: z.string() }), z.string()]),
    /^spec\.it\[\]: a union of shapes is not structural/,
  ],
  [
    "a discriminated union",
    z.discriminatedUnion("t", [z.object({ t: z.literal("a") }), z.object({ t: z.literal("b") })]),
    /^spec\.it\[\]: a union of shapes/,
  ],
  [
    "an intersection",
    z.intersection(z.object({ a: z.string() }), z.record(z.string(), z.int())),
    /^spec\.it\[\]: an intersection/,
  ],
  ["recursion", z.json(), /^spec\.it\[\]: a recursive schema/],
  ["look-ahead", z.string().regex(/^a(?=b)/), /^spec\.it\[\]: the pattern .* RE2/],
  ["a date object", z.date(), /^spec\.it\[\]: a schema of type date/],
  ["a choice of unlike values", z.literal(["a", 1]), /^spec\.it\[\]: a choice of values that are not of one type/],
];

for (const [name, schema, message] of refused)
  test(`schema: ${name} is refused and its place is named`, () => {
    assert.throws(
      () => structuralSchema(z.object({ it: z.array(schema) }), "spec"),
      (error: Fault) => error instanceof Fault && message.test(error.message),
    );
  });

test("a kind's definition names it, prints its columns and its age, and has its status as a subresource", () => {
  const { metadata, spec } = crdOf([Boat]);

  assert.equal(metadata.name, "boats.sea.example.org");
  assert.deepEqual(spec.names, {
    plural: "boats",
    singular: "boat",
    kind: "Boat",
    listKind: "BoatList",
    shortNames: ["bt"],
  });
  assert.deepEqual(
    spec.versions[0]?.additionalPrinterColumns.map((c) => c.name),
    ["Afloat", "Age"],
  );
  assert.deepEqual(spec.versions[0]?.subresources, { status: {} });
});

test("the first version is the stored one, all are served", () => {
  const versions = crdOf([Boat, { ...Boat, version: "v1beta1" }]).spec.versions;

  assert.deepEqual(
    versions.map((v) => [v.name, v.served, v.storage]),
    [
      ["v1", true, true],
      ["v1beta1", true, false],
    ],
  );
  assert.throws(() => crdOf([Boat, { ...Boat, plural: "ships" }]), /not a version of the same kind/);
  assert.throws(() => crdOf([]), /no versions/);
});

test("a rule stands at its path, and one without a place is refused", () => {
  const crew = schemaOf(Boat).properties?.spec?.properties?.crew;

  assert.deepEqual(crew?.items?.["x-kubernetes-validations"], [{ rule: "self.rank != 'cook'", message: "no cooks" }]);
  assert.throws(
    () => schemaOf({ ...Boat, rules: [{ path: "spec.sail", rule: "true", message: "" }] }),
    /spec\.sail has no place/,
  );
});

test("a status can be written field by field", () => {
  assert.equal(schemaOf(Boat).properties?.status?.required, undefined);
});

test("the API reference lists every field with its limits, and keeps the table whole", () => {
  const text = apiReference([Boat]);

  assert.match(text, /- \[Boat \(sea\.example\.org\/v1\)\]\(#boat-seaexampleorgv1\)/);
  assert.match(
    text,
    /\| `spec\.name` \| string \| required; at least 1 characters \| Painted on the bow \\\| stern\. \|/,
  );
  assert.match(text, /\| `spec\.oars` \| integer \| default `2`; at least 0 \|/);
  assert.match(text, /\| `spec\.crew\[\]\.rank` \| string \| one of `mate`, `cook` \|/);
  assert.match(text, /- no cooks \(`spec\.crew\[\]`\)/);
});
