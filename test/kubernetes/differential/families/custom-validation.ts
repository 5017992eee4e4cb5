import { defined, definition, withSpec } from "../definitions.ts";
import { type Family, get, type Json, post, put, type Step, step } from "../step.ts";

const GROUP = "custom-validation.example.com";
const path = (plural: string): string => `/apis/${GROUP}/v1/namespaces/diff-custom-validation/${plural}`;
const FORMATS = [
  "bsonobjectid",
  "uri",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "cidr",
  "mac",
  "uuid",
  "uuid3",
  "uuid4",
  "uuid5",
  "isbn",
  "isbn10",
  "isbn13",
  "creditcard",
  "ssn",
  "hexcolor",
  "rgbcolor",
  "byte",
  "password",
  "date",
  "duration",
  "datetime",
  "date-time",
  "k8s-short-name",
  "k8s-long-name",
  "nothing",
];
const camel = (format: string): string => `f${format.replaceAll("-", "")}${format.includes("-") ? "2" : ""}`;

/** A field per keyword, and values for it, good and bad. */
const KEYWORDS: Record<string, [schema: Json, ...values: Json[]]> = {
  text: [{ type: "string" }, "x", 1, 1.5, true, {}, [], ["x"], null],
  integer: [{ type: "integer" }, 1, 1.5, "1", true, null, 9007199254740991],
  number: [{ type: "number" }, 1, 1.5, "1", false, null],
  boolean: [{ type: "boolean" }, true, "true", 0, null],
  object: [{ type: "object", properties: { a: { type: "string" } } }, {}, { a: "x", b: 1 }, { a: 1 }, [], "x", 1, null],
  array: [{ type: "array", items: { type: "integer" } }, [], [1], ["x", 1, null], {}, "x", null],
  nested: [
    {
      type: "array",
      items: { type: "array", items: { type: "object", required: ["a"], properties: { a: { type: "integer" } } } },
    },
    [[{ a: 1 }]],
    [[{ a: "x" }, {}], []],
    [{}],
  ],
  int32: [{ type: "integer", format: "int32" }, 2147483647, 2147483648, -2147483649, "x", 1.5],
  int64: [{ type: "integer", format: "int64" }, 1, "x"],
  float: [{ type: "number", format: "float" }, 1.5, 1e39, "x"],
  double: [{ type: "number", format: "double" }, 1.5, 1e39, "x"],
  oddFormat: [{ type: "integer", format: "date" }, 5, "2020-01-01"],
  dated: [{ type: "string", format: "date" }, 5, 5.5, true, {}, ["x"], "2020-13-01"],
  minimum: [{ type: "integer", minimum: 3 }, 3, 2],
  exclusiveMinimum: [{ type: "integer", minimum: 3, exclusiveMinimum: true }, 4, 3],
  maximum: [{ type: "integer", maximum: 3 }, 3, 4],
  exclusiveMaximum: [{ type: "integer", maximum: 3, exclusiveMaximum: true }, 2, 3],
  fraction: [{ type: "number", minimum: 0.5, maximum: 1.5, multipleOf: 0.5 }, 0.5, 1, 0.25, 2, 1.25],
  oddBounds: [{ type: "integer", minimum: 0.5, maximum: 2.5 }, 0, 1, 3],
  multipleOf: [{ type: "integer", multipleOf: 5 }, 10, 11, 0],
  minLength: [{ type: "string", minLength: 2 }, "ab", "a", "☺☺", "☺"],
  maxLength: [{ type: "string", maxLength: 2 }, "ab", "abc", "☺☺", "☺☺☺"],
  oneChar: [{ type: "string", maxLength: 1 }, "ab"],
  pattern: [{ type: "string", pattern: "^[a-z]+$" }, "abc", "ABC", "a\nb", "", 'say "x"', "<&>"],
  lengthAndPattern: [{ type: "string", minLength: 3, pattern: "^[a-z]+$" }, "A"],
  minItems: [{ type: "array", items: { type: "string" }, minItems: 1 }, [], ["x"]],
  maxItems: [{ type: "array", items: { type: "string" }, maxItems: 1 }, ["x", "y"]],
  twoItems: [{ type: "array", items: { type: "string" }, maxItems: 2 }, ["x", "y", "z"]],
  minProperties: [{ type: "object", additionalProperties: { type: "string" }, minProperties: 1 }, {}, { a: "x" }],
  maxProperties: [
    { type: "object", additionalProperties: { type: "string" }, maxProperties: 1 },
    { a: "x", b: "y" },
  ],
  enumOfTexts: [{ type: "string", enum: ["a", "b"] }, "a", "c", "", null],
  enumOfNumbers: [{ type: "integer", enum: [1, 2] }, 1, 3],
  enumOfAny: [
    { type: "object", enum: [{ a: 1 }, { b: ["x"] }], "x-kubernetes-preserve-unknown-fields": true },
    { a: 1 },
    { a: 2 },
    {},
  ],
  nullable: [{ type: "string", nullable: true }, null, "x", 1],
  nullableEnum: [{ type: "string", nullable: true, enum: ["a"] }, null, "a"],
  nullableObject: [
    { type: "object", nullable: true, properties: { a: { type: "string", nullable: true } } },
    null,
    { a: null },
  ],
  required: [
    { type: "object", required: ["a", "b"], properties: { a: { type: "string" }, b: { type: "string" } } },
    {},
    { a: "x" },
    { a: "x", b: "" },
    { a: null, b: "x" },
  ],
  map: [
    { type: "object", additionalProperties: { type: "integer", minimum: 1 } },
    { a: 1 },
    { a: 0, "b.c": "x" },
    { "": 0 },
  ],
  mapOfAny: [
    { type: "object", additionalProperties: true },
    { a: 1, b: null, c: [{}] },
  ],
  free: [{ type: "object", "x-kubernetes-preserve-unknown-fields": true }, { a: null, b: { c: [null] } }, [], 1],
  freest: [{ "x-kubernetes-preserve-unknown-fields": true }, 1, "x", [], { a: null }, null],
  intOrString: [{ "x-kubernetes-int-or-string": true }, 1, "x", 1.5, true, null, {}],
  intOrStringBounds: [
    {
      "x-kubernetes-int-or-string": true,
      anyOf: [{ type: "integer" }, { type: "string" }],
      pattern: "^[0-9]+%$",
      minimum: 1,
    },
    1,
    0,
    "5%",
    "x",
    true,
  ],
  allOf: [{ type: "string", allOf: [{ pattern: "^a" }, { pattern: "b$" }] }, "ab", "ac", "cd"],
  anyOf: [{ type: "string", anyOf: [{ pattern: "^a" }, { pattern: "b$", minLength: 3 }] }, "a", "xxb", "b", "c"],
  oneOf: [{ type: "string", oneOf: [{ pattern: "^a" }, { pattern: "b$" }] }, "a", "b", "ab", "c"],
  not: [{ type: "string", not: { pattern: "^a" } }, "b", "a"],
  oneOfFields: [
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" } },
      oneOf: [{ required: ["a"] }, { required: ["b"], properties: { b: { minimum: 3 } } }],
    },
    { a: "x" },
    { b: 5 },
    { b: 1 },
    { a: "x", b: 5 },
    {},
  ],
  anyOfFields: [
    {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" } },
      anyOf: [{ required: ["a"], properties: { a: { maxLength: 1 } } }, { required: ["b"] }],
    },
    {},
    { a: "xx" },
    { a: "xx", b: 1 },
  ],
  notRequired: [{ type: "object", properties: { a: { type: "string" } }, not: { required: ["a"] } }, {}, { a: "x" }],
  nestedLogic: [
    { type: "integer", allOf: [{ anyOf: [{ minimum: 5 }, { maximum: 1 }] }, { not: { enum: [7] } }] },
    5,
    3,
    7,
  ],
  set: [
    { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ["a", "b"],
    ["a", "a"],
    ["a", "a", "a", "b", "b"],
  ],
  setOfNumbers: [{ type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" }, [1, 2, 1]],
  setOfAtoms: [
    {
      type: "array",
      items: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: { type: "integer" } } },
      "x-kubernetes-list-type": "set",
    },
    [{ a: 1 }, { a: 1 }],
    [{ a: 1 }, { a: 2 }],
  ],
  keyed: [
    {
      type: "array",
      items: { type: "object", required: ["k"], properties: { k: { type: "string" }, v: { type: "integer" } } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    },
    [{ k: "a" }, { k: "b" }],
    [{ k: "a" }, { k: "a", v: 1 }, { k: "a" }],
    [{ v: 1 }, { v: 2 }],
    ["x"],
  ],
  keyedTwice: [
    {
      type: "array",
      items: {
        type: "object",
        required: ["k"],
        properties: { k: { type: "string" }, l: { type: "integer", default: 1 }, v: { type: "integer" } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k", "l"],
    },
    [{ k: "a" }, { k: "a", l: 2 }],
    [{ k: "a" }, { k: "a", l: 1 }],
  ],
  mapOfSets: [
    {
      type: "object",
      additionalProperties: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    },
    { "a.b": ["x", "x"] },
  ],
  embedded: [
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    { apiVersion: "v1", kind: "Pod" },
    { kind: "Pod" },
    { apiVersion: "v1" },
    { apiVersion: "", kind: "" },
    { apiVersion: "a/b/c", kind: "bad kind" },
    // One wrong type at a time: which of two upstream names is left to chance.
    { apiVersion: 1, kind: "Pod" },
    { apiVersion: "v1", kind: true },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "a/b", labels: { "-": "x y" } } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: 5 } },
    { apiVersion: "v1", kind: "Pod", metadata: { unknown: 1, name: "x" }, more: 1 },
  ],
};
for (const format of FORMATS)
  KEYWORDS[camel(format)] = [
    { type: "string", format },
    ...[
      "",
      "a",
      "2020-01-02",
      "2020-02-30",
      "2020-01-02T03:04:05Z",
      "2020-01-02t03:04:05.123+01:00",
      "2020-01-02 03:04:05",
      "1h30m",
      "22 ns",
      "1.5 days",
      "3 weeks",
      "-5s",
      "1",
      "10.0.0.1",
      "010.0.0.1",
      "::1",
      "::ffff:1.2.3.4",
      "10.0.0.0/8",
      "10.0.0.1/33",
      "fe80::/64",
      "example.com",
      "-a.com",
      "a_b.com",
      "xn--a.com",
      "user@example.com",
      "Some <user@example.com>",
      "http://example.com/x?y=1",
      "/path",
      "path",
      "mailto:x@y.z",
      "http://a b",
      "00:11:22:33:44:55",
      "00-11-22-33-44-55",
      "0011.2233.4455",
      "00000000-0000-0000-0000-000000000000",
      "a3bb189e-8bf9-3888-9912-ace4e6543002",
      "9B2F1C5E-0D3A-4B6C-8D7E-1F2A3B4C5D6E",
      "a6edc906-2f9f-5fb2-a373-efac406f0ef2",
      "507f1f77bcf86cd799439011",
      "#fff",
      "fff",
      "#ffff",
      "rgb(1,2,3)",
      "rgb(256,0,0)",
      "0321751043",
      "978-0321751041",
      "4111111111111111",
      "123-45-6789",
      "aGVsbG8=",
      "aGVsbG8",
      "YQ==",
      "A-b",
      "a-b",
      "a.b-c",
      "☺",
    ],
  ];

const fields = Object.entries(KEYWORDS);
const thing = (name: string, spec: Json, more: Json = {}): Json => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
  ...more,
});
const made = (spec: Json, name = "x", query: Record<string, string> = { dryRun: "All" }): Step =>
  step(post(path("things"), thing(name, spec), { query }));

/** Values of one format in one object: which of them are refused is in the causes. */
const formats: Step[] = FORMATS.map((format) => {
  const [, ...values] = KEYWORDS[camel(format)]!;
  return step(
    post(
      path("manies"),
      { apiVersion: `${GROUP}/v1`, kind: "Many", metadata: { name: "x" }, spec: { [camel(format)]: values } },
      { query: { dryRun: "All" } },
    ),
  );
});

const family: Family = {
  name: "custom-validation",
  steps: [
    ...defined(
      definition(GROUP, "Thing", withSpec(Object.fromEntries(fields.map(([name, [schema]]) => [name, schema])))),
    ),
    ...defined({
      ...definition(
        GROUP,
        "Many",
        withSpec(
          Object.fromEntries(
            FORMATS.map((format) => [camel(format), { type: "array", items: KEYWORDS[camel(format)]![0] }]),
          ),
        ),
      ),
      metadata: { name: `manies.${GROUP}` },
      spec: {
        ...definition(
          GROUP,
          "Many",
          withSpec(
            Object.fromEntries(
              FORMATS.map((format) => [camel(format), { type: "array", items: KEYWORDS[camel(format)]![0] }]),
            ),
          ),
        ).spec,
        names: { plural: "manies", kind: "Many" },
      },
    }),
    ...fields
      .filter(([name]) => !FORMATS.some((format) => camel(format) === name))
      .flatMap(([name, [, ...values]]) => values.map((value) => made({ [name]: value }))),
    ...formats,
    // Ratcheting: what was stored under weaker rules stays valid until it is touched.
    step(post(path("things"), thing("kept", { minLength: "ab", anyOf: "a", keyed: [{ k: "a", v: 1 }], set: ["a"] }))),
    step(get(path("things"))),
    step(put(`${path("things")}/kept`, thing("kept", { minLength: "a" }))),
  ],
};
export default family;
