import { DEFINITIONS, definition, withSpec } from "../definitions.ts";
import { type Family, type Json, post, type Step, step } from "../step.ts";

const GROUP = "definitions.example.com";
const dry = { query: { dryRun: "All" } };
const ANY = { "x-kubernetes-preserve-unknown-fields": true };
const object = (more: Json = {}): Json => ({ type: "object", ...more });

const tried = (schema: Json, more: Json = {}, query: Record<string, string> = {}): Step =>
  step(post(DEFINITIONS, definition(GROUP, "Bad", schema, more), { query: { ...dry.query, ...query } }));
/** A definition changed by hand. */
const changed = (change: (crd: Json) => void, query: Record<string, string> = {}): Step => {
  const crd = structuredClone(definition(GROUP, "Bad", object({ properties: { spec: object() } })));
  change(crd);
  return step(post(DEFINITIONS, crd, { query: { ...dry.query, ...query } }));
};

/** Schemas of `spec.x`, most of them bad. */
const FIELDS: Json[] = [
  {},
  { type: "anything" },
  { type: "null" },
  { type: "array" },
  { type: "array", items: {} },
  { type: "array", items: { type: "string" }, uniqueItems: true },
  { type: "object", additionalProperties: false },
  { type: "object", additionalProperties: true },
  { type: "object", additionalProperties: {} },
  { type: "object", properties: { a: { type: "string" } }, additionalProperties: { type: "string" } },
  { type: "object", properties: { a: {} } },
  { type: "string", $ref: "#/x" },
  { type: "string", format: "unknown-format" },
  { type: "string", pattern: "(" },
  { type: "string", pattern: "(?=x)" },
  { type: "string", enum: [] },
  { type: "string", default: 1 },
  { type: "string", default: null },
  { type: "string", nullable: true, default: null },
  { type: "string", maxLength: 1, default: "ab" },
  { type: "integer", default: 1.5 },
  { type: "integer", minimum: 3, default: 1 },
  { type: "object", default: { unknown: 1 }, properties: { a: { type: "string" } } },
  { type: "object", default: { a: 1 }, properties: { a: { type: "string" } } },
  { type: "object", default: {}, required: ["a"], properties: { a: { type: "string" } } },
  { type: "object", default: {}, required: ["a"], properties: { a: { type: "string", default: "x" } } },
  { type: "array", items: { type: "string" }, default: [1] },
  { type: "string", "x-kubernetes-preserve-unknown-fields": true },
  { type: "object", "x-kubernetes-preserve-unknown-fields": false },
  { "x-kubernetes-preserve-unknown-fields": true },
  { "x-kubernetes-int-or-string": true, type: "string" },
  { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
  { "x-kubernetes-int-or-string": true, anyOf: [{ type: "string" }, { type: "integer" }] },
  {
    "x-kubernetes-int-or-string": true,
    allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "x" }],
  },
  { type: "object", "x-kubernetes-embedded-resource": true },
  { type: "string", "x-kubernetes-embedded-resource": true },
  { type: "object", "x-kubernetes-embedded-resource": true, properties: { metadata: { type: "string" } } },
  { type: "object", "x-kubernetes-embedded-resource": true, properties: { kind: { type: "integer" } } },
  { type: "string", "x-kubernetes-list-type": "set" },
  { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "bag" },
  { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "map" },
  { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] },
  {
    type: "array",
    items: object({ properties: { a: { type: "string" } } }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
  },
  {
    type: "array",
    items: object({ properties: { a: { type: "string" } }, required: ["a"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["b"],
  },
  {
    type: "array",
    items: object({ properties: { a: { type: "string" } }, required: ["a"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a", "a"],
  },
  {
    type: "array",
    items: object({ properties: { a: object() }, required: ["a"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
  },
  {
    type: "array",
    items: object({ properties: { a: { type: "string", nullable: true } }, required: ["a"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
  },
  {
    type: "array",
    items: object({ nullable: true, properties: { a: { type: "string" } }, required: ["a"] }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
  },
  { type: "array", items: { type: "string" }, "x-kubernetes-list-map-keys": ["a"] },
  { type: "array", items: object({ properties: { a: { type: "string" } } }), "x-kubernetes-list-type": "set" },
  {
    type: "array",
    items: object({ properties: { a: { type: "string" } }, "x-kubernetes-map-type": "atomic" }),
    "x-kubernetes-list-type": "set",
  },
  { type: "array", items: { type: "array", items: { type: "string" } }, "x-kubernetes-list-type": "set" },
  { type: "array", items: { type: "string", nullable: true }, "x-kubernetes-list-type": "set" },
  { type: "string", "x-kubernetes-map-type": "atomic" },
  { type: "object", "x-kubernetes-map-type": "round" },
  { type: "object", "x-kubernetes-map-type": "granular" },
  { type: "string", allOf: [{ type: "string" }] },
  { type: "string", allOf: [{ description: "x" }] },
  { type: "string", anyOf: [{ default: "x" }] },
  { type: "string", oneOf: [{ nullable: true }] },
  { type: "string", not: { title: "x" } },
  { type: "object", allOf: [{ properties: { a: { minLength: 1 } } }] },
  { type: "object", properties: { a: { type: "string" } }, allOf: [{ properties: { a: { minLength: 1 } } }] },
  { type: "object", properties: { a: { type: "string" } }, anyOf: [{ properties: { a: { type: "string" } } }] },
  { type: "object", properties: { a: { type: "string" } }, not: { properties: { b: {} } } },
  { type: "object", additionalProperties: { type: "string" }, allOf: [{ additionalProperties: { minLength: 1 } }] },
  { type: "array", items: { type: "string" }, oneOf: [{ items: { minLength: 1 } }] },
  { type: "string", anyOf: [{ items: { minLength: 1 } }] },
  { type: "object", ...ANY, allOf: [{ properties: { a: { minLength: 1 } } }] },
  { type: "string", allOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }] },
  { type: "object", allOf: [{ "x-kubernetes-preserve-unknown-fields": true }] },
  { type: "string", title: "t", description: "d", example: "e", externalDocs: { url: "u" } },
  { type: "string", readOnly: true },
  { type: "integer", minimum: "x" },
  { type: "object", required: ["a", "a"], properties: { a: { type: "string" } } },
  { type: "object", required: ["none"] },
  { type: "object", properties: { $ref: { type: "string" }, "a b": { type: "string" } } },
  { type: "object", properties: { a: { type: "string" } }, unknown: 1 },
  { type: "string", definitions: { a: {} } },
  { type: "object", dependencies: { a: ["b"] } },
  { type: "object", patternProperties: { a: {} } },
];

const rule = (rule: Json, more: Json = {}, of: Json = { type: "string" }): Json => ({
  ...of,
  "x-kubernetes-validations": [typeof rule === "string" ? { rule, ...more } : rule],
});

const family: Family = {
  name: "definitions",
  steps: [
    ...FIELDS.map((x) => tried(withSpec({ x }))),
    // Of rules, only what is said about their form; what they mean is another family's.
    ...[
      rule(""),
      rule("  "),
      rule({ message: "x" }),
      rule("self == 'a'", { message: "  " }),
      rule("self == 'a'", { message: "a\nb" }),
      rule("self ==\n'a'"),
      rule("self ==\n'a'", { message: "one line" }),
      rule("true", { reason: "Other" }),
      rule("true", { reason: "FieldValueForbidden" }),
      rule("true", { fieldPath: ".a" }),
      rule("true", { fieldPath: ".a" }, object({ properties: { a: { type: "string" } } })),
      rule("true", { fieldPath: ".b" }, object({ properties: { a: { type: "string" } } })),
      rule("true", { fieldPath: "a" }, object({ properties: { a: { type: "string" } } })),
      rule("true", { fieldPath: "" }, object({ properties: { a: { type: "string" } } })),
      rule("true", { fieldPath: ".a.\nb" }, object({ properties: { a: { type: "string" } } })),
      rule("true", { optionalOldSelf: true }),
      rule("true", { messageExpression: "1" }),
      rule("true", { messageExpression: "" }),
      rule("true", { messageExpression: "'is ' + self" }),
      rule("true", { message: "x", messageExpression: "'is ' + self" }),
    ].map((x) => tried(withSpec({ x }))),
    tried(withSpec({ x: rule("oldSelf == self", { optionalOldSelf: true }) }), {}, { fieldManager: "operator" }),
    tried(withSpec({ x: rule("oldSelf.hasValue() || self == 'a'", { optionalOldSelf: true }) })),
    tried(withSpec({ x: rule("true", { messageExpression: "self +" }) }), {}, { fieldManager: "parser" }),
    // The root.
    tried({}),
    tried({ type: "string" }),
    tried(null),
    tried(object({ nullable: true })),
    tried(object({ properties: { metadata: { type: "string" } } })),
    tried(object({ properties: { metadata: object({ properties: { name: { type: "string", maxLength: 5 } } }) } })),
    tried(object({ properties: { metadata: object({ properties: { labels: object() } }) } })),
    tried(object({ properties: { metadata: object({ required: ["name"] }) } })),
    tried(object({ properties: { apiVersion: { type: "integer" }, kind: { type: "string" } } })),
    tried(object({ properties: { spec: object({ properties: { metadata: { type: "string" } } }) } })),
    tried("text"),
    tried([]),
    // Names, scope, versions.
    changed((crd) => (crd.metadata.name = "other.example.com")),
    changed((crd) => delete crd.metadata.name),
    changed((crd) => delete crd.spec.group),
    changed((crd) => (crd.spec.group = "nodot")),
    changed((crd) => (crd.spec.group = "UPPER.example.com")),
    ...[undefined, "nonsense", "unapproved, testing", "https://github.com/kubernetes/kubernetes/pull/1"].map(
      (approved) =>
        changed((crd) => {
          crd.spec.group = "x.k8s.io";
          crd.metadata = {
            name: "bads.x.k8s.io",
            ...(approved && { annotations: { "api-approved.kubernetes.io": approved } }),
          };
        }),
    ),
    changed((crd) => delete crd.spec.names),
    changed((crd) => delete crd.spec.names.plural),
    changed((crd) => delete crd.spec.names.kind),
    changed((crd) => (crd.spec.names.plural = "BADS")),
    changed((crd) => (crd.spec.names.singular = "a b")),
    changed((crd) => (crd.spec.names.kind = "bad-Kind-")),
    changed((crd) => (crd.spec.names.listKind = "Bad")),
    changed((crd) => (crd.spec.names.listKind = "a b")),
    changed((crd) => (crd.spec.names.shortNames = ["ok", "NOT", ""])),
    changed((crd) => (crd.spec.names.categories = ["all", "NOT"])),
    changed((crd) => delete crd.spec.scope),
    changed((crd) => (crd.spec.scope = "Galaxy")),
    changed((crd) => (crd.spec.preserveUnknownFields = true)),
    changed((crd) => (crd.spec.preserveUnknownFields = false)),
    changed((crd) => delete crd.spec.versions),
    changed((crd) => (crd.spec.versions = []), { fieldManager: "empty-versions" }),
    changed((crd) => (crd.spec.versions[0].name = "V1")),
    changed((crd) => delete crd.spec.versions[0].name),
    changed((crd) => delete crd.spec.versions[0].served),
    changed((crd) => delete crd.spec.versions[0].storage),
    changed((crd) => (crd.spec.versions[0].storage = false)),
    changed((crd) => (crd.spec.versions[0].served = false)),
    changed((crd) => delete crd.spec.versions[0].schema),
    changed((crd) => crd.spec.versions.push(crd.spec.versions[0])),
    changed((crd) => crd.spec.versions.push({ ...crd.spec.versions[0], name: "v2" })),
    changed((crd) => crd.spec.versions.push({ ...crd.spec.versions[0], name: "v2", storage: false })),
    changed((crd) =>
      crd.spec.versions.push({
        ...crd.spec.versions[0],
        name: "v2",
        storage: false,
        schema: { openAPIV3Schema: object({ properties: { x: {} } }) },
      }),
    ),
    changed((crd) => (crd.spec.versions[0].deprecated = true)),
    changed((crd) => (crd.spec.versions[0].deprecationWarning = "not deprecated")),
    changed((crd) => Object.assign(crd.spec.versions[0], { deprecated: true, deprecationWarning: "" })),
    changed((crd) => Object.assign(crd.spec.versions[0], { deprecated: true, deprecationWarning: "x".repeat(300) })),
    changed((crd) => Object.assign(crd.spec.versions[0], { deprecated: true, deprecationWarning: "a\nb" })),
    changed((crd) => (crd.spec.versions[0].additionalPrinterColumns = [{}])),
    changed(
      (crd) => (crd.spec.versions[0].additionalPrinterColumns = [{ name: "A", type: "string", jsonPath: ".spec.a" }]),
    ),
    changed(
      (crd) =>
        (crd.spec.versions[0].additionalPrinterColumns = [
          { name: "A", type: "object", format: "odd", jsonPath: "spec[" },
        ]),
    ),
    changed(
      (crd) => (crd.spec.versions[0].additionalPrinterColumns = [{ name: "A", type: "date", jsonPath: "{.spec.a}" }]),
    ),
    changed(
      (crd) =>
        (crd.spec.versions[0].additionalPrinterColumns = [
          { name: "A", type: "integer", jsonPath: '.spec.list[?(@.a=="b")].c', priority: 1, format: "int64" },
        ]),
    ),
    changed((crd) => (crd.spec.versions[0].subresources = { scale: {} })),
    changed(
      (crd) =>
        (crd.spec.versions[0].subresources = {
          scale: { specReplicasPath: ".status.x", statusReplicasPath: ".spec.y" },
        }),
    ),
    changed(
      (crd) =>
        (crd.spec.versions[0].subresources = {
          scale: {
            specReplicasPath: "spec.x",
            statusReplicasPath: ".status.list[0]",
            labelSelectorPath: ".metadata.x",
          },
        }),
    ),
    changed(
      (crd) =>
        (crd.spec.versions[0].subresources = {
          scale: { specReplicasPath: ".spec.x", statusReplicasPath: ".status.y", labelSelectorPath: ".status.z" },
          status: {},
        }),
    ),
    changed((crd) => (crd.spec.versions[0].selectableFields = [{ jsonPath: ".spec.none" }])),
    changed((crd) => (crd.spec.versions[0].selectableFields = [{ jsonPath: "" }])),
    changed((crd) => (crd.spec.versions[0].selectableFields = [{ jsonPath: "spec" }])),
    changed((crd) => (crd.spec.versions[0].selectableFields = [{ jsonPath: ".metadata.name" }])),
    changed((crd) => (crd.spec.versions[0].selectableFields = [{ jsonPath: ".spec" }])),
    ...[
      [{ jsonPath: ".spec.a" }],
      [{ jsonPath: ".spec.a" }, { jsonPath: ".spec.a" }],
      [{ jsonPath: ".spec.list" }],
      [{ jsonPath: ".spec.list[0]" }],
      Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.f${i}` })),
    ].map((selectableFields) =>
      tried(
        withSpec({
          a: { type: "string" },
          list: { type: "array", items: { type: "string" } },
          ...Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, { type: "string" }])),
        }),
        { selectableFields },
      ),
    ),
    changed((crd) => (crd.spec.conversion = { strategy: "Other" })),
    changed((crd) => (crd.spec.conversion = { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } })),
    changed((crd) => (crd.spec.unknown = 1)),
    changed((crd) => (crd.spec.versions[0].unknown = 1)),
    changed((crd) => (crd.spec = null)),
    changed((crd) => (crd.spec.versions = "v1")),
    changed((crd) => (crd.spec.names.shortNames = "x")),
    changed((crd) => (crd.status = { storedVersions: ["v9"] })),
  ],
};
export default family;
