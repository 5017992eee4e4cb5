import { DEFINITIONS, defined, definition, withSpec } from "../definitions.ts";
import {
  APPLY,
  del,
  type Family,
  get,
  JSON_PATCH,
  type Json,
  MERGE,
  patch,
  post,
  put,
  STRATEGIC,
  type Step,
  step,
} from "../step.ts";

const GROUP = "apply.example.com";
const NS = "diff-apply";
const THINGS = `/apis/${GROUP}/v1/namespaces/${NS}/things`;
const MAPS = `/api/v1/namespaces/${NS}/configmaps`;
const PODS = `/api/v1/namespaces/${NS}/pods`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NS}/deployments`;

type Query = Record<string, string>;
const thing = (name: string, spec: Json, more: Json = {}): Json => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Thing",
  metadata: { name },
  ...(spec !== undefined && { spec }),
  ...more,
});
const map = (name: string, data: Json, metadata: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  ...(data !== undefined && { data }),
});
const applied = (path: string, body: Json, query: Query): Step => step(patch(path, APPLY, body, { query }));
const by = (manager: string, name: string, spec: Json, query: Query = {}): Step =>
  applied(`${THINGS}/${name}`, thing(name, spec), { fieldManager: manager, ...query });
const force = { force: "true" };

const scaleTo = (replicas: Json, name: string, more: Json = {}): Json => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name },
  spec: { replicas },
  ...more,
});
const scaled = (path: string, name: string): Step[] => {
  const scale = (replicas: Json, more: Json = {}): Json => scaleTo(replicas, name, more);
  const by = (manager: string, body: Json, query: Query = {}): Step =>
    applied(`${path}/scale`, body, { fieldManager: manager, ...query });
  return [
    step(patch(`${path}/scale`, APPLY, scale(5))),
    by("scaler", scale(5)),
    by("scaler", scale(5), { ...force, dryRun: "All" }),
    by("scaler", scale(5), force),
    step(get(path)),
    by("scaler", scale(5)),
    by("other", scale(6)),
    by("other", scale(5)),
    by("other", scale("x")),
    by("other", scale(-1), force),
    by("other", scale(5, { unknown: 1 })),
    by("other", scale(5, { metadata: { name: "b" } })),
    by("other", scale(5, { kind: "Other" })),
    by("other", scale(5, { apiVersion: "apps/v1" })),
    step(get(path)),
    step(patch(`${path}/scale`, MERGE, { spec: { replicas: 7 } }, { query: { fieldManager: "merger" } })),
    by("scaler", scale(8)),
    by("scaler", scale(8), force),
    step(get(path)),
    applied(`${path.replace(/[^/]*$/, "none")}/scale`, scale(5), { fieldManager: "scaler" }),
  ];
};

const text = { type: "string" };
const item = {
  type: "object",
  required: ["k"],
  properties: { k: text, l: { type: "integer", default: 1 }, v: text, w: { type: "array", items: text } },
};
const keyed = { type: "array", items: item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"] };
const properties = {
  a: text,
  b: text,
  c: { type: "integer" },
  d: { type: "string", default: "default" },
  nested: { type: "object", properties: { x: text, y: text, deeper: { type: "object", properties: { z: text } } } },
  map: { type: "object", additionalProperties: text },
  atomicMap: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
  atomicStruct: { type: "object", properties: { x: text, y: text }, "x-kubernetes-map-type": "atomic" },
  list: { type: "array", items: text },
  atomicList: { type: "array", items: text, "x-kubernetes-list-type": "atomic" },
  set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
  numbers: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
  keyed,
  mapOfMaps: { type: "object", additionalProperties: { type: "object", properties: { x: text, y: text } } },
  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  port: { "x-kubernetes-int-or-string": true },
  maybe: { type: "string", nullable: true },
};

const container = (name: string, more: Json = {}): Json => ({ name, image: "example.com/x:1", ...more });
const deployment = (spec: Json): Json => ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec });
const selector = { matchLabels: { app: "d" } };
const template = (containers: Json, more: Json = {}): Json => ({
  metadata: { labels: { app: "d" } },
  spec: { containers, ...more },
});

const family: Family = {
  name: "apply",
  steps: [
    ...defined(
      definition(
        GROUP,
        "Thing",
        {
          type: "object",
          properties: {
            ...withSpec(properties).properties,
            status: {
              type: "object",
              properties: {
                phase: text,
                conditions: {
                  type: "array",
                  items: { type: "object", required: ["type"], properties: { type: text, status: text } },
                  "x-kubernetes-list-type": "map",
                  "x-kubernetes-list-map-keys": ["type"],
                },
              },
            },
          },
        },
        { subresources: { status: {}, scale: { specReplicasPath: ".spec.c", statusReplicasPath: ".status.c" } } },
      ),
    ),
    // The request itself.
    step(patch(`${THINGS}/a`, APPLY, thing("a", { a: "1" }))),
    applied(`${THINGS}/a`, thing("a", { a: "1" }), { fieldManager: "" }),
    applied(`${THINGS}/a`, thing("a", { a: "1" }), { fieldManager: "x".repeat(129) }),
    applied(`${THINGS}/a`, thing("a", { a: "1" }), { fieldManager: "a", dryRun: "All" }),
    applied(`${THINGS}/a`, thing("b", { a: "1" }), { fieldManager: "a" }),
    applied(`${THINGS}/a`, { ...thing("a", { a: "1" }), metadata: {} }, { fieldManager: "a", dryRun: "All" }),
    applied(
      `${THINGS}/a`,
      { ...thing("a", { a: "1" }), metadata: { name: "a", namespace: "default" } },
      { fieldManager: "a" },
    ),
    applied(`${THINGS}/a`, { ...thing("a", { a: "1" }), kind: "Other" }, { fieldManager: "a" }),
    applied(`${THINGS}/a`, { ...thing("a", { a: "1" }), apiVersion: `${GROUP}/v2` }, { fieldManager: "a" }),
    applied(`${THINGS}/a`, { kind: "Thing", metadata: { name: "a" } }, { fieldManager: "a" }),
    applied(`${THINGS}/a`, { apiVersion: `${GROUP}/v1`, metadata: { name: "a" } }, { fieldManager: "a" }),
    applied(`${THINGS}/a`, "", { fieldManager: "a" }),
    applied(`${THINGS}/a`, "[]", { fieldManager: "a" }),
    applied(`${THINGS}/a`, "just text", { fieldManager: "a" }),
    applied(`${THINGS}/a`, "a: [1", { fieldManager: "a" }),
    applied(`${THINGS}/a`, { ...thing("a", {}), metadata: { name: "a", managedFields: [{}] } }, { fieldManager: "a" }),
    applied(
      `${THINGS}/a`,
      { ...thing("a", {}), metadata: { name: "a", managedFields: [] } },
      { fieldManager: "a", dryRun: "All" },
    ),
    applied(
      `${THINGS}/a`,
      { ...thing("a", {}), metadata: { name: "a", uid: "00000000-0000-0000-0000-000000000001" } },
      { fieldManager: "a" },
    ),
    applied(`${THINGS}/a`, { ...thing("a", {}), metadata: { name: "a", resourceVersion: "1" } }, { fieldManager: "a" }),
    by("a", "a", { unknown: 1 }),
    by("a", "a", { unknown: 1 }, { fieldValidation: "Strict" }),
    by("a", "a", { a: 1 }),
    by("a", "a", { c: "x" }),
    by("a", "a", { nested: [] }),
    by("a", "a", { map: { x: 1 } }),
    by("a", "a", { list: {} }),
    by("a", "a", { set: ["a", "a"] }),
    by("a", "a", { keyed: [{ v: "x" }] }),
    by("a", "a", { keyed: [{ k: "x" }, { k: "x", l: 1 }] }),
    by("a", "a", { keyed: ["x"] }),
    by("a", "a", { a: null }, { dryRun: "All" }),
    by("a", "a", { nested: null, set: null, keyed: null, map: null }, { dryRun: "All" }),
    applied(`${THINGS}/A`, thing("A", { a: "1" }), { fieldManager: "a" }),
    applied(`${THINGS}/a`, `apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  a: x\n  a: y\n`, {
      fieldManager: "a",
      dryRun: "All",
    }),
    applied(`${THINGS}/a`, `apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata:\n  name: a\nspec:\n  a: x\n  a: y\n`, {
      fieldManager: "a",
      fieldValidation: "Strict",
    }),
    // Creation, conflict, force, giving up.
    by("a", "a", { a: "1", b: "1", map: { x: "1" }, set: ["x"], keyed: [{ k: "x", v: "1" }] }),
    by("a", "a", { a: "1", b: "1", map: { x: "1" }, set: ["x"], keyed: [{ k: "x", v: "1" }] }),
    by("b", "a", { a: "2" }),
    by("b", "a", { a: "2", b: "2", keyed: [{ k: "x", v: "2" }], map: { x: "2" } }),
    by("b", "a", { a: "1" }),
    by("b", "a", { a: "2" }, force),
    by("a", "a", { b: "1", map: { x: "1" }, set: ["x"], keyed: [{ k: "x", v: "1" }] }),
    by("b", "a", { c: 1, map: { y: "1" }, set: ["y"], keyed: [{ k: "y", w: ["1"] }] }),
    by("b", "a", { set: ["x", "y", "z"], keyed: [{ k: "z" }, { k: "x" }, { k: "y" }] }),
    by("a", "a", {}),
    by("b", "a", {}),
    by("b", "a", undefined),
    step(get(`${THINGS}/a`)),
    // Maps and lists of each manner.
    ...[
      { nested: { x: "1", y: "1", deeper: { z: "1" } } },
      { nested: { x: "1" } },
      { nested: {} },
      { map: { "a.b/c": "1", '"': "2" } },
      { atomicMap: { x: "1", y: "2" }, atomicStruct: { x: "1" } },
      { atomicMap: { z: "1" }, atomicStruct: { y: "1" } },
      { list: ["x", "x"], atomicList: ["y"] },
      { list: ["z"], atomicList: [] },
      { numbers: [3, 1, 2] },
      { numbers: [2, 4] },
      { set: [], keyed: [], map: {}, atomicMap: {}, list: [] },
      { keyed: [{ k: "a" }, { k: "a", l: 2, v: "x" }, { k: "b", w: ["1", "2"] }] },
      {
        keyed: [
          { k: "b", w: ["2"] },
          { k: "a", l: 2 },
        ],
      },
      { mapOfMaps: { p: { x: "1" }, q: {} } },
      { mapOfMaps: { p: { y: "1" } } },
      { free: { a: { b: [1, { c: null }] }, d: {} }, port: 80 },
      { free: { a: { e: 1 } }, port: "http" },
      { maybe: null, a: null },
      { d: "default" },
      { d: "other" },
      {},
    ].map((spec) => by("m", "lists", spec)),
    // An object that is stated empty by who had its only member: kube-apiserver makes it null, and refuses that itself.
    ...[
      { nested: { deeper: { z: "1" } } },
      { nested: {} },
      { nested: { deeper: {} } },
      { nested: { x: "1" } },
      { nested: {} },
      {},
    ].map((spec) => by("m", "emptied", spec)),
    by("m", "emptied", { nested: { deeper: { z: "1" } } }),
    by("n", "emptied", { nested: { x: "1" } }),
    by("m", "emptied", { nested: {} }),
    step(get(`${THINGS}/emptied`)),
    // Order of items.
    by("m", "order", { set: ["c", "a", "b"], keyed: [{ k: "c" }, { k: "a" }] }),
    by("n", "order", { set: ["d", "a", "e"], keyed: [{ k: "b" }, { k: "a" }, { k: "d" }] }),
    by("m", "order", { set: ["a", "b", "c"], keyed: [{ k: "a" }, { k: "c" }] }),
    by("n", "order", { set: ["e", "c", "d"] }),
    by("o", "order", { set: ["f"], keyed: [{ k: "e" }] }),
    by("n", "order", {}),
    // Other writes take fields over and away.
    step(
      post(THINGS, thing("w", { a: "1", b: "1", set: ["x"], map: { x: "1" }, keyed: [{ k: "x", v: "1" }] }), {
        query: { fieldManager: "maker" },
      }),
    ),
    step(patch(`${THINGS}/w`, MERGE, { spec: { a: "2", map: { y: "1" } } }, { query: { fieldManager: "merger" } })),
    step(
      patch(`${THINGS}/w`, JSON_PATCH, [{ op: "replace", path: "/spec/set", value: ["x", "y"] }], {
        query: { fieldManager: "patcher" },
      }),
    ),
    step(
      patch(`${THINGS}/w`, JSON_PATCH, [{ op: "add", path: "/spec/keyed/0/v", value: "9" }], {
        query: { fieldManager: "patcher" },
      }),
    ),
    step(patch(`${THINGS}/w`, MERGE, { spec: { keyed: null } }, { query: { fieldManager: "merger" } })),
    step(
      patch(`${THINGS}/w`, MERGE, {
        metadata: { labels: { a: "b" }, annotations: { c: "d" }, finalizers: ["example.com/f"] },
      }),
    ),
    by("b", "w", { a: "3", b: "3", set: ["x"] }),
    by("b", "w", { a: "3", b: "3" }, force),
    step(patch(`${THINGS}/w`, MERGE, { spec: { a: "4" } }, { query: { fieldManager: "merger" } })),
    by("b", "w", { b: "3" }),
    by("b", "w", { a: "4", b: "3" }),
    step(get(`${THINGS}/w`), { keep: "w" }),
    step((kept) => put(`${THINGS}/w`, { ...kept.w!.body, spec: { a: "5" } }, { query: { fieldManager: "putter" } }), {
      keep: "w",
    }),
    step((kept) =>
      put(`${THINGS}/w`, { ...kept.w!.body, metadata: { ...kept.w!.body.metadata, managedFields: undefined } }),
    ),
    step(patch(`${THINGS}/w`, MERGE, { metadata: { managedFields: [{}] } }), { keep: "w" }),
    step(patch(`${THINGS}/w`, MERGE, { spec: { b: "1" } }, { query: { fieldManager: "merger" } })),
    by("b", "w", { b: "2" }),
    by("b", "w", { b: "2" }, force),
    step(
      patch(`${THINGS}/w`, MERGE, {
        metadata: {
          managedFields: [
            {
              manager: "x",
              operation: "Update",
              apiVersion: "v1",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:spec": { "f:a": {} } },
            },
          ],
        },
      }),
    ),
    step(patch(`${THINGS}/w`, JSON_PATCH, [{ op: "replace", path: "/metadata/managedFields", value: [] }])),
    ...Array.from({ length: 12 }, (_, i) =>
      step(
        patch(`${THINGS}/w`, MERGE, { spec: { map: { [`k${i}`]: "1" } } }, { query: { fieldManager: `updater-${i}` } }),
      ),
    ),
    step(
      patch(
        `${THINGS}/w`,
        MERGE,
        { spec: { a: "agent" } },
        { headers: { "user-agent": "kubectl/v1.36.0 (linux/amd64) kubernetes/abc" } },
      ),
    ),
    // Subresources.
    applied(
      `${THINGS}/a/status`,
      thing("a", { a: "9" }, { status: { phase: "A", conditions: [{ type: "X", status: "1" }] } }),
      { fieldManager: "teller" },
    ),
    applied(`${THINGS}/a/status`, thing("a", undefined, { status: { conditions: [{ type: "Y" }] } }), {
      fieldManager: "other",
    }),
    applied(`${THINGS}/a/status`, thing("a", undefined, { status: { phase: "B" } }), { fieldManager: "other" }),
    applied(`${THINGS}/a/status`, thing("a", undefined), { fieldManager: "teller" }),
    applied(`${THINGS}/a`, thing("a", { a: "1" }, { status: { phase: "C" } }), { fieldManager: "teller" }),
    applied(`${THINGS}/none/status`, thing("none", undefined, { status: { phase: "A" } }), { fieldManager: "teller" }),
    step(patch(`${THINGS}/a/status`, MERGE, { status: { phase: "M" } }, { query: { fieldManager: "merger" } })),
    by("b", "a", { c: 5 }),
    // Built-in kinds.
    applied(`${MAPS}/m`, map("m", { x: "1" }, { labels: { a: "b" }, annotations: { c: "d" } }), { fieldManager: "a" }),
    applied(`${MAPS}/m`, map("m", { x: "2", y: "1" }, { labels: { a: "c" } }), { fieldManager: "b" }),
    applied(`${MAPS}/m`, map("m", { x: "2", y: "1" }, { labels: { a: "c" } }), { fieldManager: "b", ...force }),
    applied(`${MAPS}/m`, map("m", { x: 1 }), { fieldManager: "b" }),
    applied(`${MAPS}/m`, map("m", undefined), { fieldManager: "a" }),
    applied(`${MAPS}/m`, { ...map("m", { x: "2" }), unknown: 1 }, { fieldManager: "a" }),
    applied(`${MAPS}/m`, map("m", { z: "2" }, { finalizers: ["example.com/a"] }), { fieldManager: "a" }),
    applied(`${MAPS}/m`, map("m", { z: "2" }, { finalizers: ["example.com/b"] }), { fieldManager: "b" }),
    applied(`${MAPS}/m`, map("m", { z: "2" }), { fieldManager: "a" }),
    step(get(`${MAPS}/m`)),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({
        replicas: 1,
        selector,
        template: template([container("x", { ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] })]),
      }),
      { fieldManager: "a" },
    ),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({ replicas: 2, selector, template: template([container("x", { env: [{ name: "B", value: "1" }] })]) }),
      { fieldManager: "b" },
    ),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({
        selector,
        template: template([container("x", { env: [{ name: "B", value: "1" }] }), container("y")]),
      }),
      { fieldManager: "b" },
    ),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({
        selector,
        template: template([container("x", { ports: [{ containerPort: 80, protocol: "TCP", name: "http" }] })]),
      }),
      { fieldManager: "c" },
    ),
    applied(`${DEPLOYMENTS}/d`, deployment({ selector, template: template([container("x")]) }), { fieldManager: "a" }),
    applied(`${DEPLOYMENTS}/d`, deployment({ selector, template: template([{ image: "x" }]) }), { fieldManager: "a" }),
    applied(`${DEPLOYMENTS}/d`, deployment({ selector, template: template([container("x"), container("x")]) }), {
      fieldManager: "a",
    }),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({ selector, template: template([container("x")], { volumes: [{ name: "v", emptyDir: {} }] }) }),
      { fieldManager: "c" },
    ),
    applied(
      `${DEPLOYMENTS}/d`,
      deployment({
        selector,
        template: template([container("x", { resources: { limits: { cpu: "0.5", memory: "1024Mi" } } })]),
      }),
      { fieldManager: "c" },
    ),
    ...scaled(`${DEPLOYMENTS}/d`, "d"),
    applied(`${DEPLOYMENTS}/d`, deployment({ replicas: 3, selector, template: template([container("x")]) }), {
      fieldManager: "owner",
      ...force,
    }),
    ...scaled(`${DEPLOYMENTS}/d`, "d"),
    by("owner", "a", { c: 3 }, force),
    applied(`${THINGS}/a/scale`, scaleTo(5, "a"), { fieldManager: "scaler" }),
    applied(`${THINGS}/a/scale`, scaleTo(5, "a"), { fieldManager: "scaler", dryRun: "All", ...force }),
    step(
      patch(
        `${DEPLOYMENTS}/d`,
        STRATEGIC,
        { spec: { template: { spec: { containers: [{ name: "x", image: "example.com/x:2" }] } } } },
        { query: { fieldManager: "strategist" } },
      ),
    ),
    step(get(`${DEPLOYMENTS}/d`)),
    applied(`${PODS}/none`, { apiVersion: "v1", kind: "Pod", metadata: { name: "none" } }, { fieldManager: "a" }),
    // From client-side apply to server-side apply.
    step(
      post(
        MAPS,
        map(
          "k",
          { x: "1", y: "1" },
          {
            annotations: {
              "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(
                map("k", { x: "1", y: "1" }, { namespace: NS, annotations: {} }),
              ),
            },
          },
        ),
        { query: { fieldManager: "kubectl-client-side-apply" } },
      ),
    ),
    applied(`${MAPS}/k`, map("k", { x: "2" }), { fieldManager: "kubectl" }),
    applied(`${MAPS}/k`, map("k", { x: "2", z: "1" }), { fieldManager: "kubectl" }),
    applied(`${MAPS}/k`, map("k", { x: "3" }), { fieldManager: "other" }),
    // What was made before ownership was kept, and what dies.
    step(patch(`${MAPS}/k`, MERGE, { metadata: { managedFields: [{}] } })),
    applied(`${MAPS}/k`, map("k", { x: "4" }), { fieldManager: "late" }),
    step(del(`${THINGS}/lists`)),
    by("m", "lists", { a: "1" }),
    step(get(`${DEFINITIONS}/things.${GROUP}`)),
  ],
};
export default family;
