import { defined, withSpec } from "../definitions.ts";
import { APPLY, del, type Family, get, type Json, MERGE, patch, post, put, type Step, step } from "../step.ts";
import { type AdmissionAnswer, admissionUrl, caBundle, DEAD_PORT, port } from "../webhook-server.ts";

const BASE = "/apis/admissionregistration.k8s.io/v1";
const MUTATING = `${BASE}/mutatingwebhookconfigurations`;
const VALIDATING = `${BASE}/validatingwebhookconfigurations`;
const NAMESPACE = "diff-webhooks";
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const here = { matchLabels: { "kubernetes.io/metadata.name": NAMESPACE } };
const anyMap = { operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };

/** A webhook that is called about objects labelled `case: <name>`. */
function hook(name: string, wanted: AdmissionAnswer, more: Json = {}): Json {
  return {
    name: `${name}.example.com`,
    clientConfig: { url: admissionUrl(wanted), caBundle },
    rules: [anyMap],
    namespaceSelector: here,
    objectSelector: { matchLabels: { case: name } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  };
}

const configuration = (kind: string, name: string, webhooks: Json[]): Json => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: `${kind}WebhookConfiguration`,
  metadata: { name },
  webhooks,
});
const mutating = (name: string, ...webhooks: Json[]): Step =>
  step(post(MUTATING, configuration("Mutating", `diff-${name}`, webhooks)), { unseen: true });
const validating = (name: string, ...webhooks: Json[]): Step =>
  step(post(VALIDATING, configuration("Validating", `diff-${name}`, webhooks)), { unseen: true });

const map = (name: string, label: string, more: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { case: label } },
  ...more,
});
const create = (label: string, query?: Json): Step => step({ ...post(MAPS, map(`in-${label}`, label)), query });

/** Waits until both kinds of webhooks stored so far are at work: a server hears of them in the order in which they were stored. */
function atWork(round: string): Step[] {
  const ask = post(MAPS, map("probe", round), { query: { dryRun: "All" } });
  return [
    mutating(
      `zz-${round}`,
      hook(round, { response: { patch: [{ op: "add", path: "/data", value: { at: "work" } }] } }),
    ),
    validating(`zz-${round}`, hook(round, { response: { allowed: false, status: { message: "at work" } } })),
    step(ask, { unseen: true, until: ({ status }) => status === 400 }),
    step(del(`${VALIDATING}/diff-zz-${round}`), { unseen: true }),
    step(ask, { unseen: true, until: ({ body }) => body.data?.at === "work" }),
    step(del(`${MUTATING}/diff-zz-${round}`), { unseen: true }),
  ];
}

const allow: AdmissionAnswer = {};
const deny = (status?: Json): AdmissionAnswer => ({ response: { allowed: false, ...(status && { status }) } });
const add = (path: string, value: Json): AdmissionAnswer => ({ response: { patch: [{ op: "add", path, value }] } });

const answers: Record<string, AdmissionAnswer> = {
  plain: deny(),
  message: deny({ message: "not like this" }),
  reason: deny({ reason: "Forbidden" }),
  code: deny({ code: 403, reason: "Forbidden", message: "no" }),
  success: deny({ code: 200, status: "Success", message: "well" }),
  details: deny({
    code: 422,
    reason: "Invalid",
    message: "see causes",
    details: { name: "x", kind: "y", causes: [{ reason: "r", message: "m", field: "f" }] },
  }),
  warned: { response: { allowed: false, warnings: ["first", 'with "quotes"', "first"] } },
  "bad-uid": { response: { uid: "other" } },
  "no-response": { review: { response: null } },
  "bad-kind": { review: { kind: "Other" } },
  "bad-version": { review: { apiVersion: "admission.k8s.io/v2" } },
  "no-kind": { review: { kind: null } },
  "no-version": { review: { apiVersion: null } },
  "validating-patch": add("/data", {}),
  "validating-type": { response: { patchType: "JSONPatch" } },
  "not-json": { raw: { body: "hello", type: "application/json" } },
  "not-object": { raw: { body: "[]", type: "application/json" } },
  "empty-body": { raw: { body: "", type: "application/json" } },
  "empty-object": { raw: { body: "{}", type: "application/json" } },
  "is-text": { raw: { body: "hello" } },
  "is-400": { raw: { status: 400, body: "bad" } },
  "is-403": { raw: { status: 403, body: "closed" } },
  "is-404": { raw: { status: 404, body: "gone" } },
  "is-500": { raw: { status: 500, body: 'broken "here"' } },
  "is-500-json": { raw: { status: 500, body: '{"a":1}', type: "application/json" } },
  "is-503": { raw: { status: 503, body: "later" } },
  "is-418": { raw: { status: 418, body: "tea" } },
  "is-status": {
    raw: {
      status: 500,
      body: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"said so","code":500}',
      type: "application/json",
    },
  },
};

const mutations: Record<string, AdmissionAnswer> = {
  "adds-data": add("/data", { by: "webhook" }),
  "adds-unknown": add("/nowhere", 1),
  "adds-label": add("/metadata/labels/more", "x"),
  "bad-label": add("/metadata/labels/more", "not ok!"),
  "wrong-type": add("/data", 5),
  renames: add("/metadata/name", "other"),
  "removes-absent": { response: { patch: [{ op: "remove", path: "/data/absent" }] } },
  "replaces-absent": { response: { patch: [{ op: "replace", path: "/data/absent", value: "1" }] } },
  "test-fails": { response: { patch: [{ op: "test", path: "/metadata/name", value: "x" }] } },
  "bad-op": { response: { patch: [{ op: "frob", path: "/metadata/name", value: "x" }] } },
  "bad-path": { response: { patch: [{ op: "add", path: "/a/b/c", value: "x" }] } },
  "patch-no-type": { response: { patch: [{ op: "add", path: "/data", value: {} }], patchType: null } },
  "type-no-patch": { response: { patchType: "JSONPatch" } },
  "other-type": { response: { patch: [{ op: "add", path: "/data", value: {} }], patchType: "MergePatch" } },
  "empty-type": { response: { patch: [{ op: "add", path: "/data", value: {} }], patchType: "" } },
};

const conditions: Record<string, string[]> = {
  "cond-true": ["object.metadata.name.startsWith('in-')"],
  "cond-false": ["object.metadata.name == 'other'"],
  "cond-request": [
    "request.operation == 'CREATE' && request.resource.resource == 'configmaps' && request.userInfo.username != ''",
  ],
  "cond-old": ["oldObject == null"],
  "cond-error": ["object.data.absent == 'x'"],
  "cond-error-false": ["object.data.absent == 'x'", "false"],
  "cond-errors": ["object.data.absent == 'x'", "object.data.absent == 'y'"],
};

const thing = (version: string, name: string, more: Json = {}): Json => ({
  apiVersion: `webhooks.example.com/${version}`,
  kind: "Thing",
  metadata: { name },
  ...more,
});
const THINGS = "/apis/webhooks.example.com/v1/namespaces/diff-webhooks/things";
const thingSchema = withSpec({ size: { type: "integer", default: 1 }, color: { type: "string", default: "red" } });
const thingVersion = (name: string, storage: boolean): Json => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      ...thingSchema,
      properties: { ...thingSchema.properties, status: { type: "object", properties: { ok: { type: "boolean" } } } },
    },
  },
});

/** Custom resources: what a webhook adds is pruned and defaulted, and versions stand for each other. */
const things: Step[] = [
  ...defined({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.webhooks.example.com" },
    spec: {
      group: "webhooks.example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [thingVersion("v1", true), thingVersion("v2", false)],
    },
  }),
  step(post(THINGS, thing("v1", "a", { metadata: { name: "a", labels: { case: "thing" } }, spec: { size: 2 } }))),
  step(post(THINGS, thing("v1", "b", { spec: { size: 2 }, status: { ok: true } }))),
  step(post(THINGS.replace("v1", "v2"), thing("v2", "c", { spec: { size: 2 } }))),
  step(patch(`${THINGS}/b/status`, MERGE, { status: { ok: true } })),
  step(patch(`${THINGS}/b`, APPLY, thing("v1", "b", { spec: { color: "blue" } }), { query: { fieldManager: "x" } })),
  step(del(`${THINGS}/b`)),
  step(del(THINGS)),
];

const container = { name: "c", image: "i" };
const labels = { app: "x" };
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;

/** What webhooks are sent of writes to subresources, Namespaces and Events. */
const subresources: Step[] = [
  step(
    post(DEPLOYMENTS, {
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    }),
    { unseen: true },
  ),
  step(patch(`${DEPLOYMENTS}/d/scale`, MERGE, { spec: { replicas: 2 } })),
  step(
    put(`${DEPLOYMENTS}/d/scale`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d", namespace: NAMESPACE },
      spec: { replicas: 3 },
    }),
  ),
  step(post(PODS, { metadata: { name: "p" }, spec: { containers: [container] } }), { unseen: true }),
  step(post(`${PODS}/p/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } })),
  step(
    post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600 },
    }),
  ),
  step(
    post(`/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`, {
      metadata: { name: "e" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/x",
      reportingInstance: "x",
      action: "a",
      reason: "r",
      type: "Normal",
      regarding: { kind: "Pod", name: "p", namespace: NAMESPACE },
    }),
  ),
  step(post("/api/v1/namespaces", { metadata: { name: "diff-webhooks-more", labels: { case: "namespaces" } } })),
  step(patch("/api/v1/namespaces/diff-webhooks-more", MERGE, { metadata: { labels: { a: "b" } } })),
  step(patch("/api/v1/namespaces/diff-webhooks-more/status", MERGE, { status: { phase: "Active" } })),
  step(del("/api/v1/namespaces/diff-webhooks-more")),
];

const steps: Step[] = [
  ...Object.entries(answers).map(([name, wanted]) => validating(name, hook(name, wanted))),
  validating(
    "ignored",
    hook("ignored", deny(), { clientConfig: { url: `https://127.0.0.1:${DEAD_PORT}/` }, failurePolicy: "Ignore" }),
  ),
  validating("dead", hook("dead", allow, { clientConfig: { url: `https://127.0.0.1:${DEAD_PORT}/path` } })),
  validating("untrusted", hook("untrusted", allow, { clientConfig: { url: admissionUrl({ hang: true }) } })),
  validating(
    "other-name",
    hook("other-name", allow, { clientConfig: { url: `https://localhost:${port}/x`, caBundle } }),
  ),
  validating("slow", hook("slow", { hang: true }, { timeoutSeconds: 1 })),
  validating("slow-ignored", hook("slow-ignored", { hang: true }, { timeoutSeconds: 1, failurePolicy: "Ignore" })),
  validating(
    "no-service",
    hook("no-service", allow, { clientConfig: { service: { namespace: NAMESPACE, name: "absent" } } }),
  ),
  validating(
    "two",
    hook("two", deny({ message: "one" })),
    hook("two", deny({ message: "two" }), { name: "two-b.example.com" }),
  ),
  validating(
    "deletes",
    hook("deletes", deny({ message: "keep it" }), { rules: [{ ...anyMap, operations: ["DELETE"] }] }),
  ),
  validating("told-delete", hook("told", { echo: true }, { rules: [{ ...anyMap, operations: ["*"] }] })),
  validating(
    "v1beta1",
    hook(
      "v1beta1",
      { ...deny(), response: { allowed: false, uid: "x" } },
      { admissionReviewVersions: ["v1beta1", "v1"] },
    ),
  ),
  ...Object.entries(mutations).map(([name, wanted]) => mutating(name, hook(name, wanted))),
  ...Object.entries(conditions).map(([name, expressions]) =>
    mutating(
      name,
      hook(name, add("/data", { called: "yes" }), {
        matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
      }),
    ),
  ),
  mutating(
    "cond-ignore",
    hook("cond-ignore", add("/data", { called: "yes" }), {
      failurePolicy: "Ignore",
      matchConditions: [{ name: "a", expression: "object.data.absent == 'x'" }],
    }),
  ),
  mutating("told", hook("told", { annotate: "told" })),
  mutating(
    "a-order",
    hook("order", add("/data", { first: "a" })),
    hook("order", add("/data/second", "b"), { name: "order-b.example.com" }),
  ),
  mutating("b-order", hook("order", add("/data/third", "c"))),
  mutating(
    "a-again",
    hook(
      "again",
      { response: { patch: [{ op: "add", path: "/metadata/annotations", value: { seen: "" } }] }, annotate: "again" },
      { reinvocationPolicy: "IfNeeded" },
    ),
  ),
  mutating("b-again", hook("again", add("/data", { later: "change" }))),
  mutating(
    "warns",
    hook("warns", { response: { warnings: ["a warning", "ünicode", "", "a warning", "x".repeat(300)] } }),
  ),
  mutating(
    "warns-much",
    hook("warns-much", { response: { warnings: Array.from({ length: 20 }, (_, i) => `${i}${"y".repeat(400)}`) } }),
  ),
  mutating("control", hook("control", { response: { warnings: ["a\nb"] } })),
  ...["some", "on-dry-run"].map((name) =>
    mutating(
      name,
      hook(name, add("/data", { by: "webhook" }), { sideEffects: name === "some" ? "None" : "NoneOnDryRun" }),
    ),
  ),
  ...Object.entries({
    scale: { apiGroups: ["apps"], resources: ["deployments/scale"] },
    eviction: { resources: ["pods/eviction"] },
    token: { resources: ["serviceaccounts/token"] },
    status: { apiGroups: ["*"], apiVersions: ["*"], resources: ["*/status"] },
    event: { resources: ["events"] },
    exact: { apiGroups: ["webhooks.example.com"], apiVersions: ["v2"], resources: ["things"] },
    equivalent: { apiGroups: ["webhooks.example.com"], apiVersions: ["v2"], resources: ["things"] },
  }).map(([name, rule]) =>
    validating(
      `sub-${name}`,
      hook(
        `sub-${name}`,
        { echo: true },
        {
          rules: [{ ...anyMap, operations: ["*"], ...rule }],
          objectSelector: {},
          ...(name === "exact" && { matchPolicy: "Exact" }),
        },
      ),
    ),
  ),
  validating(
    "namespaces",
    hook(
      "namespaces",
      { echo: true },
      {
        namespaceSelector: { matchLabels: { case: "namespaces" } },
        objectSelector: {},
        rules: [{ ...anyMap, operations: ["*"], resources: ["namespaces", "namespaces/*"] }],
      },
    ),
  ),
  mutating(
    "thing",
    hook(
      "thing",
      { response: { patch: [{ op: "add", path: "/spec", value: { unknown: 1, size: 3 } }] } },
      { rules: [{ ...anyMap, apiGroups: ["webhooks.example.com"], apiVersions: ["v1"], resources: ["things"] }] },
    ),
  ),
  mutating("cluster", hook("cluster", add("/data", { never: "here" }), { rules: [{ ...anyMap, scope: "Cluster" }] })),
  mutating(
    "namespaced",
    hook("namespaced", add("/data", { always: "here" }), {
      rules: [{ ...anyMap, resources: ["*"], scope: "Namespaced" }],
    }),
  ),
  mutating(
    "sub-only",
    hook("sub-only", add("/data", { never: "here" }), {
      rules: [{ ...anyMap, resources: ["configmaps/*", "*/*"].slice(0, 1) }],
    }),
  ),
  ...atWork("first"),

  ...Object.keys(answers).map((name) => create(name)),
  ...Object.keys(mutations).map((name) => create(name)),
  ...Object.keys(conditions).map((name) => create(name)),
  ...[
    "ignored",
    "dead",
    "untrusted",
    "other-name",
    "slow",
    "slow-ignored",
    "no-service",
    "cond-ignore",
    "order",
    "again",
  ].map((name) => create(name)),
  ...["warns", "warns-much", "control", "cluster", "namespaced", "sub-only", "v1beta1"].map((name) => create(name)),
  ...["some", "on-dry-run", "told", "plain", "dead"].map((name) => create(name, { dryRun: "All" })),

  step(
    post(
      MAPS,
      { ...map("told", "told"), data: { a: "b" } },
      { query: { fieldManager: "a", fieldValidation: "Strict" } },
    ),
    { keep: "told" },
  ),
  step(
    post(
      MAPS,
      { ...map("x", "told"), metadata: { generateName: "gen-", labels: { case: "told" } } },
      { query: { dryRun: "All" } },
    ),
  ),
  step((kept) => put(`${MAPS}/told`, { ...kept.told!.body, data: { a: "c" } }, { query: { fieldManager: "b" } })),
  step(patch(`${MAPS}/told`, MERGE, { data: { a: "d" } }, { query: { fieldManager: "c" } })),
  step(
    patch(`${MAPS}/told`, "application/json-patch+json", [{ op: "add", path: "/data/b", value: "1" }], {
      query: { fieldManager: "d" },
    }),
  ),
  step(
    patch(
      `${MAPS}/told`,
      APPLY,
      { apiVersion: "v1", kind: "ConfigMap", data: { z: "1" } },
      { query: { fieldManager: "x", force: "true" } },
    ),
  ),
  step(
    patch(
      `${MAPS}/told-applied`,
      APPLY,
      { ...map("told-applied", "told"), data: { z: "1" } },
      { query: { fieldManager: "applier" } },
    ),
  ),
  step(patch(`${MAPS}/told`, MERGE, { data: { a: "d" } }, { as: { user: "jane", groups: ["system:masters"] } })),
  step(
    del(`${MAPS}/told`, {
      kind: "DeleteOptions",
      apiVersion: "v1",
      gracePeriodSeconds: 0,
      propagationPolicy: "Background",
    }),
  ),
  step(del(`${MAPS}/told-applied`, undefined, { query: { propagationPolicy: "Foreground", dryRun: "All" } })),
  step(post(MAPS, map("kept", "deletes")), { unseen: true }),
  step(del(`${MAPS}/kept`)),
  step(del(MAPS, undefined, { query: { labelSelector: "case=deletes" } })),
  step(del(MAPS, undefined, { query: { labelSelector: "case=told" } })),
  step(get(`${MAPS}/kept`)),
  ...things,
  ...subresources,
  step(patch(`${MAPS}/in-order`, MERGE, { metadata: { labels: { case: "adds-data" } } })),
  step(patch(`${MAPS}/in-order`, MERGE, { metadata: { labels: { case: "plain" } } })),
];
export default { name: "webhooks", steps, awaitsCache: true } satisfies Family;
