import { DEFINITIONS, defined, definition, withSpec } from "../definitions.ts";
import { del, type Family, get, type Json, MERGE, patch, post, put, type Request, type Step, step } from "../step.ts";

const GROUP = "custom-objects.example.com";
const NS = "diff-custom-objects";
const THINGS = `/apis/${GROUP}/v1/namespaces/${NS}/things`;
const LOOSE = `/apis/${GROUP}/v1/looses`;
const ANY = { "x-kubernetes-preserve-unknown-fields": true };

const thing = (name: string, spec: Json, more: Json = {}): Json => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  spec,
  ...more,
});
const dry = { query: { dryRun: "All" } };
const made = (body: Json, query?: Record<string, string>): Step =>
  step(post(THINGS, typeof body === "string" ? body : JSON.stringify(body), { query: { dryRun: "All", ...query } }));
const yaml = (body: string, query?: Record<string, string>): Step =>
  step(post(THINGS, body, { contentType: "application/yaml", query: { dryRun: "All", ...query } }));

const spec = {
  text: { type: "string", default: "some" },
  count: { type: "integer" },
  maybe: { type: "string", nullable: true },
  list: {
    type: "array",
    items: { type: "object", properties: { a: { type: "integer", default: 1 }, b: { type: "string" } } },
  },
  nested: {
    type: "object",
    default: { x: "outer" },
    properties: { x: { type: "string" }, y: { type: "string", default: "inner" } },
  },
  empty: { type: "object", properties: { z: { type: "integer", default: 3 } } },
  map: { type: "object", additionalProperties: { type: "object", properties: { a: { type: "integer", default: 1 } } } },
  defaultedList: { type: "array", items: { type: "string" }, default: ["a"] },
  defaultedMaybe: { type: "string", nullable: true, default: "d" },
  free: { type: "object", ...ANY, properties: { known: { type: "object", properties: { a: { type: "string" } } } } },
  resource: { type: "object", "x-kubernetes-embedded-resource": true, ...ANY },
  port: { "x-kubernetes-int-or-string": true },
};

const head = `{"apiVersion":"${GROUP}/v1","kind":"Thing","metadata":{"name":"x"}`;
const family: Family = {
  name: "custom-objects",
  steps: [
    ...defined(
      definition(
        GROUP,
        "Thing",
        {
          type: "object",
          properties: {
            ...withSpec(spec).properties,
            status: {
              type: "object",
              properties: { phase: { type: "string", enum: ["A", "B"] }, count: { type: "integer", default: 0 } },
            },
            extra: { type: "string" },
          },
        },
        { subresources: { status: {} } },
      ),
    ),
    ...defined({
      ...definition(GROUP, "Loose", { type: "object", ...ANY }),
      spec: { ...definition(GROUP, "Loose", { type: "object", ...ANY }).spec, scope: "Cluster" },
    }),
    // What a body must say.
    made({ kind: "Thing", metadata: { name: "x" } }),
    made({ apiVersion: `${GROUP}/v1`, metadata: { name: "x" } }),
    made({ metadata: { name: "x" } }),
    made({}),
    made("[]"),
    made("null"),
    made('"text"'),
    made("1"),
    made(""),
    made("{"),
    made(`${head}`),
    made(`${head}}}`),
    made({ ...thing("x", {}), kind: "Other" }),
    made({ ...thing("x", {}), kind: "thing" }),
    made({ ...thing("x", {}), apiVersion: `${GROUP}/v2` }, { fieldManager: "other-version" }),
    made({ ...thing("x", {}), apiVersion: "v1" }),
    made({ ...thing("x", {}), apiVersion: "a/b/c" }),
    made({ ...thing("x", {}), apiVersion: 1 }),
    made({ ...thing("x", {}), kind: ["Thing"] }),
    made({ apiVersion: `${GROUP}/v1`, kind: "Thing" }),
    made({ apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: null }),
    made({ apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: "x" }),
    made({ apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: [] }),
    // Metadata.
    ...[
      { name: "" },
      { name: "A" },
      { name: "a b" },
      { name: "x".repeat(254) },
      { name: 5 },
      { name: null },
      { generateName: "gen-" },
      { name: "x", generateName: "gen-" },
      { name: "x", namespace: NS },
      { name: "x", namespace: "default" },
      { name: "x", labels: { a: "b" } },
      { name: "x", labels: { "a b": "c d" } },
      { name: "x", labels: { a: 1 } },
      { name: "x", labels: { a: null } },
      { name: "x", labels: [] },
      { name: "x", annotations: { "A b": "c" } },
      { name: "x", annotations: { a: "x".repeat(262145) } },
      { name: "x", finalizers: ["example.com/a"] },
      { name: "x", finalizers: ["nodomain", "with.domain"] },
      { name: "x", finalizers: ["a b"] },
      { name: "x", finalizers: "a" },
      { name: "x", finalizers: ["example.com/a", "example.com/a"] },
      { name: "x", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a" }] },
      { name: "x", ownerReferences: [{ apiVersion: "v1/v2/v3", kind: "ConfigMap", name: "a", uid: "u" }] },
      { name: "x", ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "a", uid: "u" }] },
      { name: "x", uid: "00000000-0000-0000-0000-000000000001" },
      { name: "x", resourceVersion: "5" },
      { name: "x", generation: 7 },
      { name: "x", generation: -7 },
      { name: "x", creationTimestamp: "2020-01-01T00:00:00Z", deletionTimestamp: "2020-01-01T00:00:00Z" },
      { name: "x", creationTimestamp: "yesterday" },
      { name: "x", creationTimestamp: null },
      { name: "x", selfLink: "/here", deletionGracePeriodSeconds: 3 },
      { name: "x", unknown: 1, more: { a: "b" } },
      {
        name: "x",
        managedFields: [{ manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }],
      },
    ].map((metadata) => made({ apiVersion: `${GROUP}/v1`, kind: "Thing", metadata })),
    // Defaults, nulls and what is pruned.
    ...[
      {},
      undefined,
      null,
      [],
      "x",
      { text: "other", maybe: "x", nested: {} },
      { text: null, maybe: null, nested: null, defaultedMaybe: null, count: null },
      { list: [{}, { a: null }, { a: 5, b: null }, null] },
      { empty: {}, map: { k: {}, l: { a: 7 }, m: null } },
      { defaultedList: [], free: { known: { a: "x", b: "y" }, unknown: { c: null } } },
      { defaultedList: null, port: null, list: null },
      { unknown: 1, list: [{ c: 1 }, { a: 1, d: { e: 1 } }], map: { k: { u: 1 } }, nested: { w: 1 } },
      {
        resource: {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "p", unknown: 1, creationTimestamp: null },
          spec: { a: 1 },
        },
      },
      { port: 80 },
      { port: "http" },
    ].map((value) => made(thing("x", value))),
    made(thing("x", {}, { status: { phase: "A" }, extra: "e", more: 1 })),
    // How strictly the body is read.
    ...["Strict", "Warn", "Ignore", "Other", ""].flatMap((fieldValidation) => [
      made(`${head},"spec":{"text":"a","text":"b","count":1,"count":2},"spec":{"unknown":1}}`, { fieldValidation }),
      made(thing("x", { unknown: 1, list: [{ c: 1 }], nested: { w: 1 } }, { more: 1 }), { fieldValidation }),
      made({ apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name: "x", unknown: 1 } }, { fieldValidation }),
      yaml(`apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata:\n  name: x\nspec:\n  text: a\n  text: b\n  unknown: 1\n`, {
        fieldValidation,
      }),
    ]),
    yaml(
      `apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata: {name: x, labels: {a: "1"}}\nspec: {count: 0x10, text: "yes", maybe: ~}\n`,
    ),
    yaml(`apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata:\n  name: x\n  labels:\n    a: 1\n`),
    ...["a: [1\n", "a: b: c\n", "\tx: 1\n"].map((text) => yaml(text, { fieldManager: "no-yaml" })),
    yaml(""),
    yaml("just text"),
    yaml(`apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata: {name: x}\n---\napiVersion: v1\n`),
    // Life of one object: generation, status, resourceVersion.
    step(post(THINGS, thing("a", { count: 1 }, { status: { phase: "A" } })), { keep: "a" }),
    step(post(THINGS, thing("a", {}))),
    step(post(`${THINGS}/a`, thing("a", {}))),
    step(put(`${THINGS}/a`, thing("a", { count: 2 }))),
    step(put(`${THINGS}/none`, thing("none", { count: 2 }, { metadata: { name: "none", resourceVersion: "1" } }))),
    step((kept) => put(`${THINGS}/a`, { ...kept.a!.body, spec: { count: 2 } }), { keep: "a" }),
    step((kept) => put(`${THINGS}/a`, kept.a!.body)),
    step(
      (kept) => put(`${THINGS}/a`, { ...kept.a!.body, metadata: { ...kept.a!.body.metadata, labels: { a: "b" } } }),
      { keep: "a" },
    ),
    ...changed({ uid: "00000000-0000-0000-0000-000000000002" }),
    ...changed({ uid: "" }),
    ...changed({ name: "b" }),
    ...changed({ name: "" }),
    ...changed({ namespace: "default" }),
    ...changed({ resourceVersion: "1" }),
    ...changed({ resourceVersion: "x" }),
    ...changed({ resourceVersion: "" }),
    ...changed({ generation: 55 }),
    ...changed({ creationTimestamp: null }),
    ...changed({ creationTimestamp: "2020-01-01T00:00:00Z" }),
    ...changed({ deletionTimestamp: "2020-01-01T00:00:00Z" }),
    ...changed({ deletionGracePeriodSeconds: 5 }),
    ...changed({ generateName: "gen-" }),
    ...changed({ finalizers: ["nodomain"] }),
    ...changed({ labels: { "-": "" } }),
    ...changed({ managedFields: [] }),
    ...changed({ managedFields: [{}] }),
    ...changed({ managedFields: [{ manager: "m", operation: "Wrong", apiVersion: "v1", fieldsType: "V9" }] }),
    step((kept) => put(`${THINGS}/a`, { ...kept.a!.body, kind: "Other" }, dry)),
    step((kept) => put(`${THINGS}/a`, { ...kept.a!.body, apiVersion: "v9" }, dry)),
    step((kept) => put(`${THINGS}/a/status`, { ...kept.a!.body, spec: { count: 9 }, status: { phase: "B" } }), {
      keep: "a",
    }),
    step((kept) => put(`${THINGS}/a/status`, { ...kept.a!.body, status: { phase: "C" } })),
    step((kept) => put(`${THINGS}/a/status`, { ...kept.a!.body, status: { unknown: 1, count: "x" } })),
    step((kept) =>
      put(`${THINGS}/a/status`, {
        ...kept.a!.body,
        metadata: { ...kept.a!.body.metadata, labels: { c: "d" } },
        status: {},
      }),
    ),
    step(get(`${THINGS}/a/status`)),
    step(patch(`${THINGS}/a/status`, MERGE, { status: { phase: "A" }, spec: { count: 7 } })),
    step(patch(`${THINGS}/a/status`, MERGE, { metadata: { annotations: { a: "b" }, finalizers: ["example.com/f"] } })),
    step(post(`${THINGS}/a/status`, thing("a", {}))),
    step(del(`${THINGS}/a/status`)),
    step(get(`${THINGS}/a/other`)),
    step(get(`${THINGS}/a/scale`)),
    step(get(`${THINGS}/a`)),
    step(get(THINGS)),
    step(get(`/apis/${GROUP}/v1/things`)),
    // A kind without schema keeps everything, and is no namespaced one.
    step(
      post(LOOSE, {
        apiVersion: `${GROUP}/v1`,
        kind: "Loose",
        metadata: { name: "l" },
        a: null,
        b: { c: [null, 1.5] },
      }),
    ),
    step(post(LOOSE, { apiVersion: `${GROUP}/v1`, kind: "Loose", metadata: { name: "m", namespace: NS } })),
    step(
      post(`/apis/${GROUP}/v1/namespaces/${NS}/looses`, {
        apiVersion: `${GROUP}/v1`,
        kind: "Loose",
        metadata: { name: "m" },
      }),
    ),
    step(get(`${LOOSE}/l`)),
    step(patch(`${LOOSE}/l`, MERGE, { status: { x: 1 }, spec: [1, null, { a: null }] })),
    step(get(`${LOOSE}/l/status`)),
    step(del(`${LOOSE}/l`)),
    step(post(`/apis/${GROUP}/v1/namespaces/none/things`, thing("a", {}))),
    step(get(`${DEFINITIONS}/things.${GROUP}`)),
  ],
};
export default family;

/** Sends the object `a` again with other metadata, as a dry run. */
function changed(metadata: Json): Step[] {
  return [
    step((kept): Request => {
      const { body } = kept.a!;
      return put(`${THINGS}/a`, { ...body, metadata: { ...body.metadata, ...metadata } }, dry);
    }),
  ];
}
