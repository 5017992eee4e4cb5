import { DEFINITIONS } from "../definitions.ts";
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
  type Step,
  served,
  step,
} from "../step.ts";
import { type ConversionAnswer, caBundle, conversionUrl, DEAD_PORT } from "../webhook-server.ts";

const GROUP = "conversion.example.com";

/** v1 has `spec.host`, v2 calls it `spec.address`; v1 is stored. */
function definition(kind: string, conversion: Json, more: Json = {}): Json {
  const plural = `${kind.toLowerCase()}s`;
  const version = (name: string, field: string, size: number): Json => ({
    name,
    served: true,
    storage: name === "v1",
    subresources: { status: {}, scale: { specReplicasPath: ".spec.count", statusReplicasPath: ".status.count" } },
    additionalPrinterColumns: [{ name: "Where", type: "string", jsonPath: `.spec.${field}` }],
    schema: {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              [field]: { type: "string" },
              size: { type: "integer", default: size },
              count: { type: "integer" },
              ports: {
                type: "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                items: {
                  type: "object",
                  required: ["name"],
                  properties: { name: { type: "string" }, at: { type: "integer" } },
                },
              },
            },
          },
          status: { type: "object", properties: { count: { type: "integer" }, seen: { type: "string" } } },
        },
      },
    },
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [version("v1", "host", 1), version("v2", "address", 2)],
      conversion,
      ...more,
    },
  };
}

const webhook = (wanted: ConversionAnswer, more: Json = {}): Json => ({
  strategy: "Webhook",
  webhook: { clientConfig: { url: conversionUrl(wanted), caBundle }, conversionReviewVersions: ["v1"], ...more },
});
const renaming: ConversionAnswer = {
  move: { v1: ["spec.address", "spec.host"], v2: ["spec.host", "spec.address"] },
};
const path = (kind: string, version: string): string =>
  `/apis/${GROUP}/${version}/namespaces/diff-conversion/${kind.toLowerCase()}s`;
const object = (kind: string, version: string, name: string, more: Json): Json => ({
  apiVersion: `${GROUP}/${version}`,
  kind,
  metadata: { name },
  ...more,
});

const refused: Json[] = [
  { strategy: "Other" },
  { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } },
  { strategy: "Webhook" },
  { strategy: "Webhook", webhook: {} },
  { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
  { strategy: "Webhook", webhook: { clientConfig: {}, conversionReviewVersions: ["v1"] } },
  { strategy: "Webhook", webhook: { clientConfig: { url: "http://a" }, conversionReviewVersions: ["v1"] } },
  { strategy: "Webhook", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: [] } },
  { strategy: "Webhook", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v2"] } },
  { strategy: "Webhook", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["v1", "v1"] } },
  { strategy: "Webhook", webhook: { clientConfig: { url: "https://a" }, conversionReviewVersions: ["-"] } },
  {
    strategy: "Webhook",
    webhook: { clientConfig: { service: { namespace: "", name: "" } }, conversionReviewVersions: ["v1"] },
  },
  {
    strategy: "Webhook",
    webhook: {
      clientConfig: { service: { namespace: "a", name: "b", port: 0, path: "c" } },
      conversionReviewVersions: ["v1"],
    },
  },
];

const broken: [name: string, answer: ConversionAnswer, more?: Json][] = [
  ["Failing", { response: { result: { status: "Failure", message: "not today" } } }],
  ["Silent", { response: { result: { status: "Failure" } } }],
  ["Nostatus", { response: { result: {} } }],
  ["Fewer", { drop: 1 }],
  ["Wronguid", { response: { uid: "other" } }],
  ["Noresponse", { review: { response: null } }],
  ["Wrongkind", { review: { kind: "Other" } }],
  ["Renamed", { set: { "metadata.name": "other" } }],
  ["Moved", { set: { "metadata.namespace": "other" } }],
  ["Otheruid", { set: { "metadata.uid": "other" } }],
  ["Otherkind", { set: { kind: "Other" } }],
  ["Otherversion", { set: { apiVersion: `${GROUP}/v3` } }],
  ["Nometadata", { set: { metadata: null } }],
  ["Badlabels", { set: { "metadata.labels": { a: "not ok!" } } }],
  ["Numberlabels", { set: { "metadata.labels": { a: 1 } } }],
  ["Listlabels", { set: { "metadata.annotations": ["a"] } }],
  ["Notfound", { raw: { status: 404, body: "" } }],
  ["Nojson", { raw: { body: "hello" } }],
  ["Dead", {}, { clientConfig: { url: `https://127.0.0.1:${DEAD_PORT}/x` } }],
  ["Untrusted", {}, { clientConfig: { url: conversionUrl() } }],
];

const define = (kind: string, conversion: Json, more: Json = {}): Step[] => [
  step(post(DEFINITIONS, definition(kind, conversion, more)), { unseen: true }),
  ...served(`${kind.toLowerCase()}s.${GROUP}`),
  ...served(`${kind.toLowerCase()}s.${GROUP}`, "v2"),
];

/** What one does with two versions of a kind. */
function lived(kind: string): Step[] {
  const [v1, v2] = [path(kind, "v1"), path(kind, "v2")];
  const one = object(kind, "v1", "one", {
    spec: { host: "a", ports: [{ name: "x", at: 1 }] },
    status: { seen: "never" },
  });
  const two = object(kind, "v2", "two", { spec: { address: "b" } });
  return [
    step(post(v1, one)),
    step(get(`${v2}/one`)),
    step(post(v2, two), { keep: `${kind} two` }),
    step(get(`${v1}/two`)),
    step(get(`${v2}/two`)),
    step(get(v1)),
    step(get(v2)),
    step(get(v2, undefined, { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" })),
    step(get(v2, { limit: "1" })),
    step(post(v2, object(kind, "v2", "dry", { spec: { address: "c" } }), { query: { dryRun: "All" } })),
    step(post(v2, object(kind, "v1", "three", {}))),
    step(post(v2, object(kind, "v2", "three", { spec: { host: "unknown", address: 5 } }))),
    step((kept) => put(`${v2}/two`, { ...kept[`${kind} two`]!.body, spec: { address: "bb", count: 1 } })),
    step((kept) => put(`${v2}/two`, { ...kept[`${kind} two`]!.body, spec: { address: "bbb" } })),
    step(patch(`${v2}/one`, MERGE, { spec: { address: "aa" }, metadata: { labels: { a: "b" } } })),
    step(patch(`${v2}/one`, JSON_PATCH, [{ op: "replace", path: "/spec/address", value: "aaa" }])),
    step(patch(`${v2}/one`, JSON_PATCH, [{ op: "test", path: "/spec/host", value: "aaa" }])),
    step(patch(`${v2}/one`, MERGE, { spec: { address: "aaa" } })),
    step(get(`${v1}/one`)),
    step(patch(`${v2}/one/status`, MERGE, { status: { seen: "today", count: 1 } })),
    step(get(`${v1}/one`)),
    // Nobody owns the replicas of the first, and the second's are owned in v2.
    step(patch(`${v1}/one/scale`, MERGE, { spec: { replicas: 3 } })),
    step(get(`${v1}/one`)),
    step(patch(`${v1}/two/scale`, MERGE, { spec: { replicas: 4 } })),
    step(get(`${v2}/two`)),
    step(patch(`${v1}/two/scale`, JSON_PATCH, [{ op: "replace", path: "/spec/replicas", value: 5 }])),
    step(get(`${v2}/two`)),
    step(
      patch(`${v1}/four`, APPLY, object(kind, "v1", "four", { spec: { host: "d", ports: [{ name: "p", at: 1 }] } }), {
        query: { fieldManager: "x" },
      }),
    ),
    step(
      patch(`${v2}/four`, APPLY, object(kind, "v2", "four", { spec: { address: "e" } }), {
        query: { fieldManager: "y" },
      }),
    ),
    step(
      patch(`${v2}/four`, APPLY, object(kind, "v2", "four", { spec: { address: "e" } }), {
        query: { fieldManager: "y", force: "true" },
      }),
    ),
    step(
      patch(`${v2}/four`, APPLY, object(kind, "v2", "four", {}), {
        query: { fieldManager: "x" },
      }),
    ),
    step(patch(`${v1}/four`, MERGE, { spec: { host: "f" } })),
    step(get(`${v2}/four`)),
    {
      ask: get(v2, { watch: "true", resourceVersion: "0" }),
      watch: {
        events: 6,
        during: [
          post(v1, object(kind, "v1", "seen", { spec: { host: "w" } })),
          patch(`${v2}/seen`, MERGE, { spec: { address: "ww" } }),
          del(`${v1}/seen`),
        ],
      },
    },
    step(del(`${v2}/two`)),
    step(get(`${v1}/two`)),
    step(patch(`${v2}/four`, MERGE, { metadata: { finalizers: ["a.example.com/b"] } })),
    step(del(`${v2}/four`)),
    step(patch(`${v1}/four`, MERGE, { metadata: { finalizers: null } })),
    step(del(v2)),
    step(get(v1)),
  ];
}

/** Without a converter: what both versions have goes between them, the rest is lost. */
function plain(): Step[] {
  const [v1, v2] = [path("Plain", "v1"), path("Plain", "v2")];
  return [
    step(post(v1, object("Plain", "v1", "one", { spec: { host: "a", count: 1 } }))),
    step(get(`${v2}/one`)),
    step(post(v2, object("Plain", "v2", "two", { spec: { address: "b", count: 2 } }))),
    step(get(`${v1}/two`)),
    step(get(v2)),
    step(post(v2, object("Plain", "v2", "dry", { spec: { address: "c" } }), { query: { dryRun: "All" } })),
    step(post(v2, object("Plain", "v2", "three", { spec: { count: 3 } })), { unseen: true }),
    step(patch(`${v1}/three`, MERGE, { spec: { count: 4 } })),
    step(patch(`${v2}/three`, MERGE, { spec: { ports: [{ name: "x", at: 1 }] } })),
    step(get(`${v1}/three`)),
    step(del(v1)),
  ];
}

/** What happens to objects with owners in a version that nothing can be converted to any more. */
function oneWay(): Step[] {
  const [v1, v2] = [path("Oneway", "v1"), path("Oneway", "v2")];
  const names = ["merged", "replaced", "status", "scaled", "applied", "forced", "deleted"];
  const config = (name: string) => object("Oneway", "v1", name, { spec: { size: 5 } });
  return [
    ...define("Oneway", webhook(renaming)),
    ...names.map((name) => step(post(v2, object("Oneway", "v2", name, { spec: { address: "a" } })), { unseen: true })),
    step(
      patch(`${DEFINITIONS}/oneways.${GROUP}`, MERGE, { spec: { conversion: webhook({ ...renaming, refuse: "v2" }) } }),
      {
        unseen: true,
      },
    ),
    step(get(`${v2}/merged`), { until: ({ status }) => status === 500 }),
    ...names.map((name) => step(get(`${v1}/${name}`), { keep: name })),
    step(patch(`${v1}/merged`, MERGE, { spec: { count: 1 } })),
    step(patch(`${v1}/merged`, MERGE, { spec: { count: 2 } })),
    step((kept) => put(`${v1}/replaced`, { ...kept.replaced!.body, spec: { count: 1 } })),
    step(patch(`${v1}/status/status`, MERGE, { status: { seen: "today" } })),
    step(patch(`${v1}/scaled/scale`, MERGE, { spec: { replicas: 3 } })),
    step(get(`${v1}/scaled`)),
    step(patch(`${v1}/applied`, APPLY, config("applied"), { query: { fieldManager: "x" } })),
    step(patch(`${v1}/forced`, APPLY, config("forced"), { query: { fieldManager: "x", force: "true" } })),
    step(patch(`${v1}/deleted`, MERGE, { metadata: { finalizers: ["a.example.com/b"] } })),
    step(del(`${v1}/deleted`)),
    step(patch(`${v1}/deleted`, MERGE, { metadata: { finalizers: null } })),
    step(get(v1)),
  ];
}

/** A change of the definition `movings`, whose answer another family compares. */
const redefined = (operations: Json[]): Step =>
  step(patch(`${DEFINITIONS}/movings.${GROUP}`, JSON_PATCH, operations), { unseen: true });

/** Waits until objects are said to be stored in these versions. */
const stored = (versions: string[]): Step =>
  step(get(`${DEFINITIONS}/movings.${GROUP}`), {
    unseen: true,
    until: ({ body }) => JSON.stringify(body.status.storedVersions) === JSON.stringify(versions),
  });

const steps: Step[] = [
  ...refused.map((conversion) => step(post(DEFINITIONS, definition("Refused", conversion)))),
  step(post(DEFINITIONS, definition("Widget", webhook(renaming))), { unseen: true }),
  ...served(`widgets.${GROUP}`),
  ...served(`widgets.${GROUP}`, "v2"),
  ...lived("Widget"),
  ...define("Older", webhook(renaming, { conversionReviewVersions: ["v3", "v1beta1", "v1"] })),
  step(post(path("Older", "v2"), object("Older", "v2", "a", { spec: { address: "x" } }))),
  step(get(`${path("Older", "v1")}/a`)),
  ...define(
    "Labeller",
    webhook({ ...renaming, set: { "metadata.labels": { by: "webhook" }, "metadata.generation": 9 } }),
  ),
  step(post(path("Labeller", "v2"), object("Labeller", "v2", "a", { spec: { address: "x" } }))),
  step(get(`${path("Labeller", "v1")}/a`)),
  step(get(`${path("Labeller", "v2")}/a`)),
  ...define("Plain", { strategy: "None" }),
  ...plain(),

  ...broken.flatMap(([kind, answer, more]) => [
    ...define(kind, webhook(answer, more)),
    step(post(path(kind, "v1"), object(kind, "v1", "a", { spec: { host: "x" } })), { unseen: true }),
    step(get(`${path(kind, "v2")}/a`)),
    step(post(path(kind, "v2"), object(kind, "v2", "b", { spec: { address: "x" } }))),
  ]),

  ...oneWay(),

  // The storage version moves; what was stored before stays as it is until it is written.
  ...define("Moving", webhook(renaming)),
  step(post(path("Moving", "v1"), object("Moving", "v1", "old", { spec: { host: "x" } }))),
  redefined([
    { op: "replace", path: "/spec/versions/0/storage", value: false },
    { op: "replace", path: "/spec/versions/1/storage", value: true },
  ]),
  stored(["v1", "v2"]),
  step(get(`${path("Moving", "v2")}/old`)),
  step(get(`${path("Moving", "v1")}/old`)),
  step(post(path("Moving", "v1"), object("Moving", "v1", "new", { spec: { host: "y" } })), {
    until: ({ status }) => status === 201 || status === 409,
  }),
  step(get(`${path("Moving", "v2")}/new`)),
  step(patch(`${path("Moving", "v1")}/old`, MERGE, { spec: { host: "xx" } })),
  step(get(path("Moving", "v2"))),
  step(patch(`${DEFINITIONS}/movings.${GROUP}`, JSON_PATCH, [{ op: "remove", path: "/spec/versions/0" }])),
  step(patch(`${DEFINITIONS}/movings.${GROUP}/status`, MERGE, { status: { storedVersions: ["v2"] } }), {
    unseen: true,
  }),
  stored(["v2"]),
  redefined([{ op: "replace", path: "/spec/versions/0/served", value: false }]),
  step(get(`${path("Moving", "v1")}/old`), { until: ({ status }) => status === 404 }),
  step(get(`${path("Moving", "v2")}/old`)),
];

export default { name: "conversion", steps } satisfies Family;
