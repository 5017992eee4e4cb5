/** What is refused of a definition's schema, in the words of Kubernetes' validation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLines, definition, type Json, lines, list, object, text } from "./testing.ts";

const AT = "spec.validation.openAPIV3Schema.properties[f]";

/** What is refused of one field's schema; lines are given below its place. */
function assertField(schema: Json, ...wanted: string[]): void {
  assertLines(
    lines(definition({ f: schema })),
    wanted.map((line) => `${AT}${line}`),
    schema,
  );
}

test("lists are atomic, sets or maps, and what marks them stands on lists", () => {
  const type = (of: string) => ({ "x-kubernetes-list-type": of });
  assertField(list(text, type("atomic")));
  assertField(list(text, type("set")));
  assertField(
    list(text, type("bag")),
    '.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
  );
  assertField(
    { ...text, ...type("set") },
    '.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
  );
  assertField(
    { "x-kubernetes-preserve-unknown-fields": true, ...type("atomic") },
    ".type: Required value: must be array if x-kubernetes-list-type is specified",
  );
  assertField(object({ a: text }, { "x-kubernetes-map-type": "granular" }));
  assertField(
    object({ a: text }, { "x-kubernetes-map-type": "round" }),
    '.x-kubernetes-map-type: Unsupported value: "round": supported values: "atomic", "granular"',
  );
  assertField(
    { ...text, "x-kubernetes-map-type": "atomic" },
    '.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
  );
});

test("the items of a set are whole, and can't be null", () => {
  const set = { "x-kubernetes-list-type": "set" };
  const why = "must be atomic as item of a list with x-kubernetes-list-type=set";
  assertField(list(list(text), set));
  assertField(list(list(text, { "x-kubernetes-list-type": "atomic" }), set));
  assertField(
    list(list(text, { "x-kubernetes-list-type": "set" }), set),
    `.items.x-kubernetes-list-type: Invalid value: "set": ${why}`,
  );
  assertField(list(object({ a: text }, { "x-kubernetes-map-type": "atomic" }), set));
  assertField(list(object({ a: text }), set), `.items.x-kubernetes-map-type: Invalid value: null: ${why}`);
  assertField(
    list({ ...text, nullable: true }, set),
    ".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set",
  );
});

test("the items of a map have keys: scalars that are always there", () => {
  const map = (...keys: string[]) => ({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
  const keys = ".x-kubernetes-list-map-keys";
  const items = object({ a: text, o: object({}) }, { required: ["a"] });
  assertField(list(items, map("a")));
  assertField(list(object({ a: { ...text, default: "x" } }), map("a")));
  assertField(
    list(items, { "x-kubernetes-list-map-keys": ["a"] }),
    ".x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty",
  );
  assertField(
    list(items, { ...map("a"), "x-kubernetes-list-type": "atomic" }),
    '.x-kubernetes-list-type: Invalid value: "atomic": must be map if x-kubernetes-list-map-keys is non-empty',
  );
  assertField(list(items, map()), `${keys}: Required value: must not be empty if x-kubernetes-list-type is map`);
  assertField(
    list(text, map("a")),
    '.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
  );
  assertField(list(items, map("b")), `${keys}: Invalid value: ["b"]: entries must all be names of item properties`);
  assertField(list(items, map("a", "a")), `${keys}: Invalid value: ["a","a"]: must not contain duplicate entries`);
  assertField(
    list({ ...items, required: ["a", "o"] }, map("o")),
    '.items.properties[o].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
  );
  assertField(
    list(object({ a: text }), map("a")),
    ".items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
  );
  assertField(
    list({ ...items, nullable: true }, map("a")),
    ".items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map",
  );
  assertField(
    list(object({ a: { ...text, nullable: true } }, { required: ["a"] }), map("a")),
    ".items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
  );
});

test("every field has a type that there is, and no word that can't be read off", () => {
  for (const type of ["array", "boolean", "integer", "number", "object", "string"])
    assertField(type === "array" ? list(text) : { type });
  assertField(
    { type: "text" },
    '.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
  );
  assertField(
    { type: "null" },
    '.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ".type: Forbidden: type cannot be set to null, use nullable as an alternative",
  );
  assertField({}, ".type: Required value: must not be empty for specified object fields");
  assertField(list({}), ".items.type: Required value: must not be empty for specified array items");
  assertField({ "x-kubernetes-preserve-unknown-fields": true });
  assertField({ "x-kubernetes-int-or-string": true });
  assertField({ type: "array" }, ".items: Required value: must be specified");
  for (const word of ["$ref", "definitions", "dependencies", "id", "patternProperties"])
    assertField({ ...text, [word]: "x" }, `.${word}: Forbidden: ${word} is not supported`);
  assertField(
    { ...text, "x-kubernetes-preserve-unknown-fields": false },
    ".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
  );
  assertField(
    { ...list(text), uniqueItems: true },
    ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
  );
  assertField(
    object({ a: text }, { additionalProperties: text }),
    ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
  );
  assertField({ type: "object", additionalProperties: text });
  assertField(
    { ...text, pattern: "(" },
    '.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
  );
  assertField({ ...text, pattern: "a".repeat(10_000) });
  assertField(
    { ...text, pattern: "a".repeat(10_001) },
    `.pattern: Invalid value: "${"a".repeat(10_001)}": must be a valid regular expression, but isn't: error parsing regexp: expression too large`,
  );
});

test("a schema is at most a hundred levels deep", () => {
  const nested = (depth: number): Json => (depth === 0 ? text : object({ a: nested(depth - 1) }));
  assertField(nested(99));
  const [error, ...more] = lines(definition({ f: nested(100) }));
  assert.match(error!, /: Forbidden: schema is nested deeper than 100 levels$/);
  assert.deepEqual(more, []);
});

test("an object inside has a type, properties, and the members that all objects have", () => {
  const embedded = { "x-kubernetes-embedded-resource": true };
  assertField(object({ spec: text }, embedded));
  assertField({ type: "object", ...embedded, "x-kubernetes-preserve-unknown-fields": true });
  assertField(
    { type: "object", ...embedded },
    ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
  );
  assertField(
    { ...object({ a: text }, embedded), type: "string" },
    '.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
  );
  assertField(
    object({ kind: { type: "integer" }, apiVersion: text }, embedded),
    '.properties[kind].type: Invalid value: "integer": must be string',
  );
  assertField(
    object({ metadata: text }, embedded),
    '.properties[metadata].type: Invalid value: "string": must be object',
  );
});

test("the whole is an object that is there, and its metadata are the server's", () => {
  const root = "spec.validation.openAPIV3Schema";
  const whole = (change: (schema: Json) => void) =>
    lines(definition({ f: text }, (crd) => change(crd.spec.versions[0].schema.openAPIV3Schema)));
  const only = "must not specify anything other than name and generateName, but metadata is implicitly specified";
  for (const [change, wanted] of [
    [(s: Json) => void delete s.type, [`${root}.type: Required value: must not be empty at the root`]],
    [
      (s: Json) => {
        s.type = "string";
      },
      [`${root}.type: Invalid value: "string": must be object at the root`],
    ],
    [
      (s: Json) => {
        s.nullable = true;
      },
      [`${root}.nullable: Forbidden: nullable cannot be true at the root`],
    ],
    [
      (s: Json) => {
        s.properties.metadata = { type: "object", properties: { name: { ...text, maxLength: 9 } } };
      },
      [],
    ],
    [
      (s: Json) => {
        s.properties.metadata = { type: "object", properties: { labels: { type: "object" } } };
      },
      [`${root}.properties[metadata]: Forbidden: ${only}`],
    ],
    [
      (s: Json) => {
        s.properties.metadata = { type: "object", required: ["name"] };
      },
      [`${root}.properties[metadata]: Forbidden: ${only}`],
    ],
    [
      (s: Json) => {
        s.properties.metadata = { type: "string" };
      },
      [`${root}.properties[metadata].type: Invalid value: "string": must be object`],
    ],
    [
      (s: Json) => {
        s.properties.kind = { type: "integer" };
      },
      [`${root}.properties[kind].type: Invalid value: "integer": must be string`],
    ],
  ] as const)
    assertLines(whole(change), wanted, change.toString());
});

test("inside allOf, anyOf, oneOf and not only what a value may be is said, of what is specified outside", () => {
  const root = "spec.validation.openAPIV3Schema";
  const whole = (part: Json) =>
    lines(definition({ f: text }, (crd) => void Object.assign(crd.spec.versions[0].schema.openAPIV3Schema, part)));
  for (const [part, at] of [
    [{ allOf: [{ properties: { b: {} } }] }, ".allOf[0]"],
    [{ anyOf: [{ properties: { b: {} } }] }, ".anyOf[0]"],
    [{ oneOf: [{ properties: { f: {} } }, { properties: { b: {} } }] }, ".oneOf[1]"],
    [{ not: { properties: { b: {} } } }, ".not"],
  ] as const)
    assert.deepEqual(whole(part), [
      `${root}.properties[b]: Required value: because it is defined in ${root}${at}.properties[b]`,
    ]);
  assertField(object({ a: text }, { not: { required: ["a"] } }));
  assertField(object({ a: text }, { allOf: [{ properties: { a: { minLength: 1 } } }] }));
  for (const [key, value, must] of [
    ["type", "string", "empty"],
    ["description", "x", "empty"],
    ["title", "x", "empty"],
    ["default", "x", "undefined"],
    ["additionalProperties", true, "undefined"],
    ["nullable", true, "false"],
    ["x-kubernetes-preserve-unknown-fields", true, "false"],
    ["x-kubernetes-embedded-resource", true, "false"],
    ["x-kubernetes-int-or-string", true, "false"],
    ["x-kubernetes-list-map-keys", ["a"], "empty"],
    ["x-kubernetes-list-type", "set", "undefined"],
    ["x-kubernetes-map-type", "atomic", "undefined"],
    ["x-kubernetes-validations", [{ rule: "true" }], "empty"],
  ] as const)
    assertField(
      { ...text, anyOf: [{ [key]: value }] },
      `.anyOf[0].${key}: Forbidden: must be ${must} to be structural`,
    );
  const either = [{ type: "integer" }, { type: "string" }];
  assertField({ "x-kubernetes-int-or-string": true, anyOf: either });
  assertField(
    { "x-kubernetes-int-or-string": true, anyOf: either.toReversed() },
    ".anyOf[0].type: Forbidden: must be empty to be structural",
    ".anyOf[1].type: Forbidden: must be empty to be structural",
  );
  assertField({ "x-kubernetes-int-or-string": true, allOf: [{ anyOf: either }, { pattern: "^a" }] });
});

test("rules have a text, one line of message, and a reason and a place that there are", () => {
  const rule = (of: Json, schema: Json = text) => ({ ...schema, "x-kubernetes-validations": [of] });
  const at = ".x-kubernetes-validations[0]";
  assertField(rule({ rule: "self != ''" }));
  assertField(rule({ rule: " " }), `${at}.rule: Required value: rule is not specified`);
  assertField(
    rule({ rule: "true", message: " " }),
    `${at}.message: Invalid value: " ": must be non-empty if specified`,
  );
  assertField(
    rule({ rule: "true", message: "a\nb" }),
    `${at}.message: Invalid value: "a\\nb": must not contain line breaks`,
  );
  assertField(
    rule({ rule: "true\n&& true" }),
    `${at}.message: Required value: message must be specified if rule contains line breaks`,
  );
  assertField(rule({ rule: "true\n&& true", message: "a" }));
  assertField(
    rule({ rule: "true", messageExpression: " " }),
    `${at}.messageExpression: Required value: messageExpression must be non-empty if specified`,
  );
  for (const reason of ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"])
    assertField(rule({ rule: "true", reason }));
  assertField(
    rule({ rule: "true", reason: "Because" }),
    `${at}.reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
  );
  const boat = object({ a: text });
  assertField(rule({ rule: "true", fieldPath: ".a" }, boat));
  assertField(
    rule({ rule: "true", fieldPath: ".b" }, boat),
    `${at}.fieldPath: Invalid value: ".b": must be a valid path`,
  );
  assertField(
    rule({ rule: "true", fieldPath: " " }, boat),
    `${at}.fieldPath: Invalid value: " ": must be non-empty if specified`,
    `${at}.fieldPath: Invalid value: " ": must be a valid path`,
  );
  assertField(
    rule({ rule: "true", fieldPath: ".a\n" }, boat),
    `${at}.fieldPath: Invalid value: ".a\\n": must not contain line breaks`,
    `${at}.fieldPath: Invalid value: ".a\\n": must be a valid path`,
  );
});

test("defaults keep to their schema and know no other fields", () => {
  assertField({ ...text, default: "x" });
  assertField({ ...text, default: 7 }, '.default: Invalid value: "integer":…');
  assertField(
    object({ a: text }, { default: { b: "x" } }),
    '.default: Invalid value: {"b":"x"}: must not have unknown fields',
  );
  assertField(object({ a: { ...text, maxLength: 1 } }, { default: { a: "xy" } }), ".default.a: Too long: may not be …");
});
