import { defined, definition, withSpec } from "../definitions.ts";
import { type Family, get, type Json, MERGE, patch, post, STRATEGIC, type Step, step } from "../step.ts";

const NS = "namespaces/diff-merge-patch";
const MAP = `/api/v1/${NS}/configmaps/a`;
const SECRET = `/api/v1/${NS}/secrets/a`;
const GROUP = "merge-patch.example.com";
const THINGS = `/apis/${GROUP}/v1/${NS}/things`;

const asked = (path: string, body: Json, query?: Record<string, string>): Step =>
  step(patch(path, MERGE, body, query === undefined ? {} : { query }));

/** On an object with `data`, a map of texts. Texts are sent as they are. */
const onAny: Json[] = [
  { data: { y: "2" } },
  { data: { y: "2" } },
  { data: { y: null, z: "3" } },
  { data: { none: null } },
  { data: null },
  { data: { x: "1", y: "2" } },
  { metadata: { labels: { a: "b", c: null } } },
  { metadata: { labels: { a: null } } },
  { metadata: { labels: { "-": "b" } } },
  { metadata: { labels: { a: "b c" } } },
  { metadata: { labels: { a: 1 } } },
  { metadata: { labels: ["a"] } },
  { metadata: { annotations: { "example.com/a": "anything goes: ☺" } } },
  { metadata: { annotations: { "A b": "c" } } },
  { metadata: { finalizers: ["example.com/a"] } },
  { metadata: { finalizers: ["nodomain"] } },
  { metadata: { finalizers: null } },
  { metadata: { name: "b" } },
  { metadata: { namespace: "default" } },
  { metadata: { namespace: null } },
  { metadata: { uid: "00000000-0000-0000-0000-000000000000" } },
  { metadata: { uid: null } },
  { metadata: { resourceVersion: "1" } },
  { metadata: { resourceVersion: "x" } },
  { metadata: { resourceVersion: null } },
  { metadata: { generation: 9 } },
  { metadata: { creationTimestamp: "2020-01-01T00:00:00Z" } },
  { metadata: { creationTimestamp: "yesterday" } },
  { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } },
  { metadata: { deletionGracePeriodSeconds: 5 } },
  { metadata: { generateName: "gen-" } },
  { metadata: { selfLink: "/here" } },
  ...[{ operation: "Odd" }, { fieldsType: "FieldsV2" }, { apiVersion: "" }, { manager: "m".repeat(129) }].map(
    (odd) => ({
      metadata: {
        managedFields: [
          {
            manager: "m",
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:x": {} },
            ...odd,
          },
        ],
      },
    }),
  ),
  { metadata: { unknown: "x" } },
  { metadata: null },
  { metadata: "x" },
  { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a" }] } },
  { metadata: { ownerReferences: null } },
  { kind: "Other" },
  { kind: null },
  { apiVersion: "v9" },
  { apiVersion: null },
  { unknown: 1 },
  {},
  "null",
  "[]",
  "[1]",
  '"text"',
  "1",
  "{",
  "",
  '{"data":{"x":"1","x":"2"}}',
];

const family: Family = {
  name: "merge-patch",
  steps: [
    step(post(`/api/v1/${NS}/configmaps`, { metadata: { name: "a" }, data: { x: "1" } }), { keep: "a" }),
    ...onAny.map((body) => asked(MAP, body)),
    step(get(MAP), { keep: "a" }),
    step((kept) =>
      patch(MAP, MERGE, { metadata: { resourceVersion: kept.a!.body.metadata.resourceVersion }, data: { v: "1" } }),
    ),
    step((kept) =>
      patch(MAP, MERGE, { metadata: { resourceVersion: kept.a!.body.metadata.resourceVersion }, data: { v: "2" } }),
    ),
    step((kept) => patch(MAP, MERGE, { metadata: { uid: kept.a!.body.metadata.uid }, data: { v: "3" } })),
    asked(`/api/v1/${NS}/configmaps/none`, { data: { y: "2" } }),
    asked(MAP, { data: { dry: "run" } }, { dryRun: "All" }),
    asked(MAP, { unknown: "x" }, { fieldValidation: "Strict" }),
    asked(MAP, '{"data":{"x":"1","x":"2"}}', { fieldValidation: "Strict" }),
    asked(MAP, '{"data":{"x":"1","x":"2"}, "unknown":1}', { fieldValidation: "Strict" }),
    asked(MAP, { unknown: "x" }, { fieldValidation: "Ignore" }),
    asked(MAP, { apiVersion: null }, { fieldValidation: "Ignore" }),
    asked(MAP, { apiVersion: null, kind: null, data: { y: "9" } }),
    asked(MAP, { data: { w: "1" } }, { fieldManager: "somebody" }),
    asked(MAP, { data: { w: "1" } }, { fieldManager: "line\nbreak" }),
    step(patch(MAP, MERGE, { data: { u: "1" } }, { headers: { "user-agent": "some-agent/1.0 (x)" } })),
    step(patch(MAP, MERGE, { data: { t: "1" } }, { headers: { "user-agent": "" } })),
    step(patch(MAP, "application/json", { data: { t: "1" } })),
    step(patch(MAP, "text/plain", { data: { t: "1" } })),
    step(patch(MAP, `${MERGE}; charset=utf-8`, { data: { t: "1" } })),
    asked(MAP, { immutable: true }),
    asked(MAP, { data: { t: "2" } }),
    step(post(`/api/v1/${NS}/secrets`, { metadata: { name: "a" }, stringData: { x: "1" } })),
    asked(SECRET, { data: { y: "Mg==" } }),
    asked(SECRET, { data: { y: "not base64!" } }),
    asked(SECRET, { stringData: { z: "3" } }),
    asked(SECRET, { type: "example.com/other" }),
    ...defined(
      definition(
        GROUP,
        "Thing",
        {
          ...withSpec({
            count: { type: "integer", maximum: 9 },
            text: { type: "string", default: "some" },
            maybe: { type: "string", nullable: true },
            list: { type: "array", items: { type: "object", properties: { a: { type: "integer" } } } },
            free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          }),
          "x-kubernetes-preserve-unknown-fields": true,
        },
        { subresources: { status: {} } },
      ),
    ),
    step(post(THINGS, { apiVersion: `${GROUP}/v1`, kind: "Thing", metadata: { name: "a" }, data: { x: "1" } }), {
      keep: "thing",
    }),
    ...onAny.map((body) => asked(`${THINGS}/a`, body)),
    ...[
      { spec: { count: 1 } },
      { spec: { count: 1 } },
      { spec: { count: 10 } },
      { spec: { count: "1" } },
      { spec: { count: 1.5 } },
      { spec: { count: null } },
      { spec: { text: null } },
      { spec: { text: "other", maybe: null } },
      { spec: { list: [{ a: 1 }, { a: null }, { b: 1 }] } },
      { spec: { list: [null] } },
      { spec: { free: { a: { b: null, c: 1 } } } },
      { spec: { free: [{ b: null }] } },
      { spec: { unknown: 1 } },
      { status: { phase: "Done" } },
      { spec: null },
      { spec: [] },
    ].map((body) => asked(`${THINGS}/a`, body)),
    asked(`${THINGS}/a`, { spec: { unknown: 1, list: [{ b: 1 }] } }, { fieldValidation: "Strict" }),
    asked(`${THINGS}/a`, { spec: { unknown: 1, list: [{ b: 1 }] } }, { fieldValidation: "Ignore" }),
    asked(`${THINGS}/a/status`, { status: { phase: "Done" }, spec: { count: 5 } }),
    asked(`${THINGS}/a/status`, { status: null }),
    asked(`${THINGS}/a/status`, { metadata: { labels: { from: "status" } } }),
    asked(`${THINGS}/a/other`, { spec: {} }),
    asked(`${THINGS}/none`, { spec: {} }),
    step(patch(`${THINGS}/a`, STRATEGIC, { spec: { count: 3 } })),
    step(get(`${THINGS}/a`)),
  ],
};
export default family;
