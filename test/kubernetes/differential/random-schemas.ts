import fc from "fast-check";
import type { Json } from "./step.ts";

/**
 * Random structural schemas, and values for them. Both are small: what differs between two validators differs on small things.
 */

const FIELDS = ["a", "b", "c", "d"] as const;
const TEXTS = [
  "",
  "a",
  "b",
  "ab",
  "abc",
  "A1",
  "a b",
  "☺",
  "10.0.0.1",
  "2020-01-02",
  "1h",
  "user@example.com",
] as const;
const PATTERNS = ["^a", "b$", "^[a-z]*$", "^[A-Z][0-9]$"] as const;
const FORMATS = ["date", "ipv4", "duration", "email", "byte"] as const;
const NUMBERS = [-1, 0, 1, 2, 3, 10] as const;
const FRACTIONS = [...NUMBERS, 0.5, 2.5] as const;

const text = fc.constantFrom(...TEXTS);
const integer = fc.constantFrom(...NUMBERS);
const fraction = fc.constantFrom(...FRACTIONS);
const count = fc.integer({ min: 0, max: 3 });

/** The words of a schema, each there or not. */
const words = (model: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<Json> =>
  fc.record(model, { requiredKeys: [] }).map((found) => ({ ...found }));

/** Mostly the first. */
const seldom = (usual: fc.Arbitrary<Json>, other: fc.Arbitrary<Json>, in10 = 2): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 10 - in10, arbitrary: usual }, { weight: in10, arbitrary: other });

const some = (model: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<Json> =>
  seldom(fc.constant({}), words(model), 4);

const leaf: fc.Arbitrary<Json> = fc.oneof(
  some({
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom(...PATTERNS),
    format: fc.constantFrom(...FORMATS),
    enum: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
    anyOf: fc.tuple(fc.record({ minLength: count }), fc.record({ pattern: fc.constantFrom(...PATTERNS) })),
    not: fc.record({ enum: fc.tuple(text) }),
  }).map((more) => ({ type: "string", ...more })),
  some({
    minimum: integer,
    maximum: integer,
    exclusiveMinimum: fc.boolean(),
    multipleOf: fc.constantFrom(1, 2, 5),
    format: fc.constantFrom("int32", "int64"),
    enum: fc.uniqueArray(integer, { minLength: 1, maxLength: 3 }),
    oneOf: fc.tuple(fc.record({ minimum: integer }), fc.record({ maximum: integer })),
  }).map((more) => ({ type: "integer", ...more })),
  some({ minimum: fraction, maximum: fraction, exclusiveMaximum: fc.boolean(), multipleOf: fc.constant(0.5) }).map(
    (more) => ({ type: "number", ...more }),
  ),
  fc.constant({ type: "boolean" }),
  fc.constant({ "x-kubernetes-int-or-string": true }),
  fc.constant({ "x-kubernetes-preserve-unknown-fields": true }),
);

/** A default that the schema mostly allows; one that it forbids makes the definition invalid, which is compared, too. */
const withDefault = (schema: Json): fc.Arbitrary<Json> =>
  seldom(
    fc.constant(schema),
    valid(schema, 0).map((value) => ({ ...schema, default: value })),
    1,
  );

const nullable = (schema: Json): fc.Arbitrary<Json> =>
  seldom(fc.constant(schema), fc.constant({ ...schema, nullable: true }));

function objectOf(depth: number): fc.Arbitrary<Json> {
  const properties = fc.dictionary(fc.constantFrom(...FIELDS), fieldOf(depth - 1), { minKeys: 1, maxKeys: 4 });
  return properties.chain((found) => {
    const names = Object.keys(found);
    const one = fc.tuple(fc.constantFrom(...names)).map((required) => ({ required }));
    return some({
      required: fc.subarray(names, { minLength: 1 }),
      minProperties: count,
      maxProperties: fc.integer({ min: 1, max: 4 }),
      "x-kubernetes-map-type": fc.constantFrom("atomic", "granular"),
      "x-kubernetes-preserve-unknown-fields": fc.constant(true),
      anyOf: fc.tuple(one, one),
      oneOf: fc.tuple(one, one),
      not: one,
    }).map((more) => ({ type: "object", properties: { ...found }, ...more }));
  });
}

function mapOf(depth: number): fc.Arbitrary<Json> {
  return fc
    .tuple(schemaOf(depth - 1), some({ minProperties: count, maxProperties: count }))
    .map(([additionalProperties, more]) => ({ type: "object", additionalProperties, ...more }));
}

function listOf(depth: number): fc.Arbitrary<Json> {
  const lists = fc
    .tuple(
      schemaOf(depth - 1),
      some({ minItems: count, maxItems: count, "x-kubernetes-list-type": fc.constant("atomic") }),
    )
    .map(([items, more]) => ({ type: "array", items, ...more }));
  const sets = leaf
    .filter(({ type }) => type !== undefined)
    .map((items) => ({ type: "array", items, "x-kubernetes-list-type": "set" }));
  const keyed = schemaOf(depth - 1).map((value) => ({
    type: "array",
    items: { type: "object", required: ["k"], properties: { k: { type: "string" }, v: value } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }));
  return fc.oneof({ weight: 2, arbitrary: lists }, sets, keyed);
}

const schemaOf = (depth: number): fc.Arbitrary<Json> =>
  (depth <= 0 ? leaf : fc.oneof({ weight: 2, arbitrary: leaf }, objectOf(depth), mapOf(depth), listOf(depth))).chain(
    nullable,
  );

const fieldOf = (depth: number): fc.Arbitrary<Json> => schemaOf(depth).chain(withDefault);

/** The schema of a custom resource: `spec` is as random as it gets. */
export const schemas: fc.Arbitrary<Json> = objectOf(3).map((spec) => ({ type: "object", properties: { spec } }));

/** A value that mostly is as the schema says; in `in10` of 10 places it is anything. */
export function valid(schema: Json, in10: number): fc.Arbitrary<Json> {
  const scalar = fc.oneof(text, fraction, fc.boolean(), fc.constant(null));
  const structure = fc.constantFrom({}, [], ["a", "a"], { a: 1, x: null });
  // Where a number or a text is expected, an apply of a list is refused as untypable by the embedded API, as invalid by upstream.
  const anything = schema["x-kubernetes-int-or-string"]
    ? scalar
    : fc.oneof({ weight: 2, arbitrary: scalar }, structure);
  return in10 === 0 ? typed(schema, 0) : seldom(typed(schema, in10), anything, in10);
}

function typed(schema: Json, in10: number): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string":
      return text;
    case "integer":
      return integer;
    case "number":
      return fraction;
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valid(schema.items, in10), { maxLength: 3 });
    case "object":
      return schema.properties === undefined
        ? fc.dictionary(fc.constantFrom(...FIELDS), valid(schema.additionalProperties, in10)).map((map) => ({ ...map }))
        : fields(schema, in10);
    default:
      return fc.oneof(text, integer);
  }
}

function fields({ properties, required = [] }: Json, in10: number): fc.Arbitrary<Json> {
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valid(schema as Json, in10)]),
  );
  const known = fc.record(model, { requiredKeys: required }).map((found): Json => ({ ...found }));
  return in10 === 0
    ? known
    : seldom(
        known,
        known.map((found) => ({ ...found, unknown: 1 })),
        1,
      );
}
