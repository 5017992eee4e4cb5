import { SAMPLES, sampleOf } from "../samples/kinds.ts";
import { del, type Family, get, type Json, MERGE, patch, post, put, type Step, step } from "../step.ts";

const NAME = "metadata-rules";
const NS = `diff-${NAME}`;
const MAPS = `/api/v1/namespaces/${NS}/configmaps`;
const dry = { query: { dryRun: "All" } };
const owner = { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "u" };

/** Metadata of a ConfigMap that is refused, or taken in a way of its own. */
const METADATA: readonly Json[] = [
  {},
  { name: "" },
  { name: "A" },
  { name: "a_b" },
  { name: "a..b" },
  { name: "-a" },
  { name: "a/b" },
  { name: "x".repeat(254) },
  { name: "m", namespace: "other" },
  { name: "m", namespace: "" },
  {
    name: "m",
    uid: "u",
    generation: 7,
    selfLink: "x",
    deletionTimestamp: "2026-01-01T00:00:00Z",
    deletionGracePeriodSeconds: 5,
  },
  { name: "m", creationTimestamp: "2020-01-01T00:00:00Z" },
  { name: "m", labels: { "": "a" } },
  { name: "m", labels: { "a b": "c d" } },
  { name: "m", labels: { "a/b/c": "x" } },
  { name: "m", labels: { "/a": "y" } },
  { name: "m", labels: { "A/b": "z" } },
  { name: "m", labels: { a: "x".repeat(64) } },
  { name: "m", labels: { ["y".repeat(64)]: "" } },
  { name: "m", labels: { a: null, b: "" } },
  { name: "m", labels: {} },
  { name: "m", labels: null, annotations: null, finalizers: null, ownerReferences: null },
  { name: "m", annotations: { "a b": "1", "A.b/C": "2" } },
  { name: "m", annotations: { "": "3" } },
  { name: "m", annotations: { a: "x".repeat(256 * 1024) } },
  { name: "m", finalizers: ["a"] },
  { name: "m", finalizers: ["a b", "example.com/"] },
  { name: "m", finalizers: ["example.com/a", "example.com/a"] },
  { name: "m", finalizers: ["orphan", "foregroundDeletion"] },
  { name: "m", finalizers: [""] },
  { name: "m", ownerReferences: [{}] },
  { name: "m", ownerReferences: [owner, owner] },
  { name: "m", ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
  { name: "m", ownerReferences: [{ ...owner, apiVersion: "v1", kind: "Event" }] },
  {
    name: "m",
    ownerReferences: [
      { ...owner, controller: true },
      { ...owner, uid: "v", controller: true },
    ],
  },
  { name: "m", managedFields: [{}] },
  { name: "m", managedFields: [{ manager: "x", operation: "Odd" }] },
  { name: "m", generateName: "n-" },
];

/** Names for a kind: some want one DNS label, some take any segment of a path. */
const NAMES = ["A", "a.b", "a:b", "1a", "x".repeat(64), "a%b", ".."];
const NAMED = [
  "Namespace",
  "Service",
  "Pod",
  "Node",
  "Role",
  "ClusterRole",
  "ServiceAccount",
  "Secret",
  "Deployment",
  "PriorityClass",
  "Lease",
  "CertificateSigningRequest",
  "CronJob",
  "Job",
];

const at = `${MAPS}/kept`;
const changes: Step[] = [
  step(post(MAPS, { metadata: { name: "kept", labels: { a: "b" }, annotations: { a: "b" } } }), { keep: "kept" }),
  step(post(MAPS, { metadata: { name: "m", resourceVersion: "5" } })),
  step(put(at, { metadata: { name: "other" } })),
  step(put(at, { metadata: {} })),
  step(put(at, { metadata: { name: "kept", namespace: "other" } })),
  step(put(at, { metadata: { name: "kept", uid: "0000" } })),
  step(put(at, { metadata: { name: "kept", resourceVersion: "1" } })),
  step(put(at, { metadata: { name: "kept", resourceVersion: "x" } })),
  step(put(at, { metadata: { name: "kept", resourceVersion: "0" } })),
  step(put(at, { metadata: { name: "kept", generation: 9, creationTimestamp: "2020-01-01T00:00:00Z" } })),
  step(put(at, { metadata: { name: "kept", deletionTimestamp: "2026-01-01T00:00:00Z" } })),
  step(put(at, { metadata: { name: "kept", labels: { "a b": "" } } })),
  step(put(at, { metadata: { name: "kept", finalizers: ["x"] } })),
  step(put(at, { metadata: { name: "kept", generateName: "x-" } })),
  step(put(at, { metadata: { name: "kept", ownerReferences: [owner] } }, dry)),
  step(put(at, { metadata: { name: "kept", ownerReferences: [{ ...owner, name: "" }] } })),
  step(put(`${MAPS}/fresh`, { metadata: { name: "fresh" } })),
  step(put(`${MAPS}/fresh`, { metadata: { name: "fresh", resourceVersion: "5" } })),
  step(put(`${MAPS}/fresh`, { metadata: { name: "fresh", uid: "u" } })),
  step(patch(`${MAPS}/fresh`, MERGE, { metadata: { labels: { a: "b" } } })),
  step(patch(at, MERGE, { metadata: { name: "other" } })),
  step(patch(at, MERGE, { metadata: { uid: "u" } })),
  step(patch(at, MERGE, { metadata: { uid: null, creationTimestamp: null, resourceVersion: null } })),
  step(patch(at, MERGE, { metadata: { finalizers: ["example.com/hold"] } })),
  step(del(at), { keep: "gone" }),
  step(put(at, { metadata: { name: "kept", finalizers: ["example.com/hold", "example.com/more"] } })),
  step(patch(at, MERGE, { metadata: { finalizers: ["example.com/more"] } })),
  step(patch(at, MERGE, { metadata: { deletionTimestamp: null } })),
  step(patch(at, MERGE, { metadata: { labels: { c: "d" } } })),
  step(patch(at, MERGE, { metadata: { finalizers: null } })),
  step(get(at)),
  step(post(`${MAPS}/named`, { metadata: { name: "named" } })),
  step(post(`/api/v1/namespaces/absent/configmaps`, { metadata: { name: "m" } })),
  step(post(MAPS, { apiVersion: "v1", kind: "Secret", metadata: { name: "m" } })),
  step(post(MAPS, { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "m" } })),
  step(post(MAPS, { metadata: { generateName: "gen-" } })),
  step(post(MAPS, { metadata: { generateName: "gen-" } }, dry)),
];

const family: Family = {
  name: NAME,
  steps: [
    ...METADATA.map((metadata) => step(post(MAPS, { metadata }, dry))),
    ...NAMED.flatMap((kind) =>
      NAMES.map((name) => {
        const sample = sampleOf(kind, NS, name);
        return step(post(sample.at, sample.body, dry));
      }),
    ),
    ...changes,
    // The group of a kind is named where a plural alone would not do.
    ...Object.keys(SAMPLES).map((kind) => step(get(`${sampleOf(kind, NS, "x").at}/${NAME}-absent`))),
    ...Object.keys(SAMPLES).map((kind) => {
      const { at: collection, body } = sampleOf(kind, NS, `${NAME}-absent`);
      return step(put(`${collection}/${NAME}-absent`, body, dry));
    }),
  ],
};
export default family;
