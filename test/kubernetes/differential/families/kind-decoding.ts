import { SAMPLES, sampleOf, template, workload } from "../samples/kinds.ts";
import { type Family, type Json, MERGE, patch, post, put, type Step, step } from "../step.ts";

const NAME = "kind-decoding";
const NS = `diff-${NAME}`;

/** Bodies that a kind's Go type does not take, or takes in its own way; by kind. */
const BODIES: readonly [kind: string, body: Json][] = [
  ["ConfigMap", { data: { a: 1 } }],
  ["ConfigMap", { data: "text" }],
  ["ConfigMap", { data: ["a"] }],
  ["ConfigMap", { data: null, binaryData: { a: "not base64!" } }],
  ["ConfigMap", { binaryData: { a: "YQ" } }],
  ["ConfigMap", { binaryData: { a: "YQ=" } }],
  ["ConfigMap", { binaryData: { a: "YQ==YQ==" } }],
  ["ConfigMap", { binaryData: { a: "" } }],
  ["ConfigMap", { data: {}, binaryData: {} }],
  ["ConfigMap", { immutable: "yes" }],
  ["ConfigMap", { immutable: 1, data: { a: 1 } }],
  ["ConfigMap", { metadata: { name: 1 } }],
  ["ConfigMap", { metadata: "x" }],
  ["ConfigMap", { metadata: [] }],
  ["ConfigMap", { metadata: { labels: { a: true } } }],
  ["ConfigMap", { metadata: { labels: ["a"] } }],
  ["ConfigMap", { metadata: { annotations: { a: {} } } }],
  ["ConfigMap", { metadata: { finalizers: "a" } }],
  ["ConfigMap", { metadata: { finalizers: [1] } }],
  ["ConfigMap", { metadata: { ownerReferences: [{ controller: "true" }] } }],
  ["ConfigMap", { metadata: { creationTimestamp: "yesterday" } }],
  ["ConfigMap", { metadata: { creationTimestamp: 5 } }],
  ["ConfigMap", { metadata: { creationTimestamp: "2026-13-01T00:00:00Z" } }],
  ["ConfigMap", { metadata: { creationTimestamp: "2026-01-01" } }],
  ["ConfigMap", { metadata: { creationTimestamp: "2026-01-01T00:00:00Zx" } }],
  ["ConfigMap", { metadata: { generation: "1" } }],
  ["ConfigMap", { metadata: { unknown: 1 } }],
  ["ConfigMap", { spec: {}, extra: 1 }],
  ["Secret", { data: { a: 5 } }],
  ["Secret", { data: { a: "%%%" } }],
  ["Secret", { stringData: { a: 5 } }],
  ["Secret", { type: [] }],
  ["Pod", { spec: "x" }],
  ["Pod", { spec: [] }],
  ["Pod", { spec: { containers: {} } }],
  ["Pod", { spec: { containers: ["a"] } }],
  ["Pod", { spec: { containers: [{ name: 1 }] } }],
  ["Pod", { spec: { containers: [{ name: "a", ports: [{ containerPort: "80" }] }] } }],
  ["Pod", { spec: { containers: [{ name: "a", ports: [{ containerPort: 99999999999 }] }] } }],
  ["Pod", { spec: { containers: [{ name: "a", ports: [{ containerPort: 80.5 }] }] } }],
  ["Pod", { spec: { containers: [{ name: "a", resources: { limits: { cpu: "a lot" } } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", resources: { limits: { cpu: "1.2.3" } } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", resources: { limits: { cpu: "1Zi" } } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", resources: { limits: { cpu: true } } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", resources: { limits: ["cpu"] } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", env: [{ name: "A", value: 1 }] }] } }],
  ["Pod", { spec: { containers: [{ name: "a", command: "run" }] } }],
  ["Pod", { spec: { containers: [{ name: "a", livenessProbe: { httpGet: { port: true } } }] } }],
  ["Pod", { spec: { containers: [{ name: "a", livenessProbe: { httpGet: { port: 1.5 } } }] } }],
  ["Pod", { spec: { hostNetwork: "true" } }],
  ["Pod", { spec: { restartPolicy: 1 } }],
  ["Pod", { spec: { nodeSelector: { a: 1 } } }],
  ["Pod", { spec: { tolerations: [{ tolerationSeconds: "5" }] } }],
  ["Pod", { spec: { volumes: [{ name: "v", emptyDir: { sizeLimit: "big" } }] } }],
  ["Pod", { spec: { volumes: [{ name: "v", emptyDir: "x" }] } }],
  ["Pod", { status: { startTime: "x" } }],
  ["Deployment", { spec: { ...workload, replicas: "3" } }],
  ["Deployment", { spec: { ...workload, replicas: 1.5 } }],
  ["Deployment", { spec: { ...workload, replicas: true } }],
  ["Deployment", { spec: { ...workload, replicas: [3] } }],
  ["Deployment", { spec: { ...workload, paused: "no", replicas: "3" } }],
  ["Deployment", { spec: { ...workload, strategy: { rollingUpdate: { maxSurge: {} } } } }],
  ["Deployment", { spec: { ...workload, selector: { matchExpressions: [{ key: "a", values: "b" }] } } }],
  ["Deployment", { spec: { ...workload, template: { ...template, metadata: { labels: "x" } } } }],
  ["Deployment", { spec: { ...workload, minReadySeconds: 0, paused: false, unknown: 1 } }],
  ["Deployment", { spec: { ...workload, template: { spec: { containers: [{ nmae: "a" }] } } } }],
  ["Service", { spec: { ports: [{ port: "80" }] } }],
  ["Service", { spec: { ports: [{ port: 80, targetPort: [] }] } }],
  ["Service", { spec: { ports: [{ port: 80, targetPort: null }] } }],
  ["Service", { spec: { selector: { a: null }, ports: [{ port: 80 }] } }],
  ["Service", { spec: { clusterIPs: "None" } }],
  ["Node", { spec: { taints: [{ timeAdded: "x" }] } }],
  ["Node", { spec: { unschedulable: 0 } }],
  ["Node", { status: { capacity: { cpu: {} } } }],
  ["Namespace", { spec: { finalizers: [{}] } }],
  ["Lease", { spec: { leaseDurationSeconds: "15" } }],
  ["Lease", { spec: { renewTime: "2026-01-01T00:00:00Z" } }],
  ["Lease", { spec: { renewTime: "2026-01-01T00:00:00.123Z" } }],
  ["Lease", { spec: { renewTime: "2026-01-01T00:00:00.123456Z" } }],
  ["Lease", { spec: { renewTime: 1 } }],
  ["Event", { involvedObject: "x" }],
  ["Event", { count: "1" }],
  ["PodDisruptionBudget", { spec: { minAvailable: 1.5 } }],
  ["PodDisruptionBudget", { spec: { minAvailable: false } }],
  ["Role", { rules: {} }],
  ["Role", { rules: [{ verbs: "get" }] }],
  ["RoleBinding", { subjects: [1] }],
  ["CertificateSigningRequest", { spec: { request: "?", usages: "x" } }],
  ["CertificateSigningRequest", { spec: { extra: { a: "b" } } }],
  ["PersistentVolumeClaim", { spec: { resources: { requests: { storage: "1 Gi" } } } }],
  ["PersistentVolume", { spec: { capacity: { storage: -1 } } }],
  ["ControllerRevision", { revision: "1" }],
  ["EndpointSlice", { endpoints: [{ conditions: { ready: "yes" } }] }],
  ["PriorityClass", { value: "10" }],
  ["CronJob", { spec: { jobTemplate: { spec: { template: { spec: { containers: 1 } } } } } }],
  ["ServiceAccount", { secrets: [{ name: 1 }] }],
  ["Endpoints", { subsets: [{ ports: [{ port: "x" }] }] }],
];

function bodyOf(kind: string, given: Json): { at: string; body: Json } {
  const { at } = sampleOf(kind, NS, "x");
  const named = given.metadata === undefined || (typeof given.metadata === "object" && !Array.isArray(given.metadata));
  return { at, body: named ? { ...given, metadata: { name: `${NAME}-bad`, ...given.metadata } } : given };
}

/** Unknown and repeated fields under each mode of validation, in objects, lists and maps. */
const STRANGE = [
  JSON.stringify({ metadata: { name: `${NAME}-s`, foo: 1 }, data: { a: "1" }, bar: { x: 1 } }),
  `{"metadata":{"name":"${NAME}-s"},"data":{"a":"1","a":"2"},"data":{"b":"3"}}`,
  `{"metadata":{"name":"${NAME}-s","name":"${NAME}-s"},"foo":1,"foo":2}`,
];
const MODES = ["Strict", "Warn", "Ignore"];
const MAPS = sampleOf("ConfigMap", NS, "x").at;
const strange: Step[] = MODES.flatMap((fieldValidation) =>
  STRANGE.map((text) => step(post(MAPS, text, { query: { fieldValidation, dryRun: "All" } }))),
);
const deployments = sampleOf("Deployment", NS, `${NAME}-d`);
const odd = { ...deployments.body, spec: { ...workload, foo: 1, template: { ...template, bar: 1 } } };

const claim = {
  metadata: { name: "c" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const sets = sampleOf("StatefulSet", NS, `${NAME}-s`);
/** Claims within a StatefulSet: without what they are, with it, and as something else. */
const claims: Step[] = [
  {},
  { apiVersion: "v1", kind: "PersistentVolumeClaim" },
  { apiVersion: "v2", kind: "Claim" },
  { kind: 1 },
  { status: { phase: "Lost" } },
].map((more) => {
  const body = { ...sets.body, spec: { ...workload, volumeClaimTemplates: [{ ...claim, ...more }] } };
  return step(post(sets.at, body, { query: { fieldValidation: "Strict", dryRun: "All" } }));
});

const family: Family = {
  name: NAME,
  steps: [
    ...BODIES.map(([kind, given]) => {
      const { at, body } = bodyOf(kind, given);
      return step(post(at, body, { query: { dryRun: "All" } }));
    }),
    ...strange,
    ...claims,
    ...MODES.map((fieldValidation) => step(post(deployments.at, odd, { query: { fieldValidation, dryRun: "All" } }))),
    step(post(deployments.at, deployments.body)),
    ...MODES.flatMap((fieldValidation) => [
      step(put(`${deployments.at}/${NAME}-d`, odd, { query: { fieldValidation, dryRun: "All" } })),
      step(
        patch(
          `${deployments.at}/${NAME}-d`,
          MERGE,
          { spec: { foo: 1, replicas: 2 } },
          { query: { fieldValidation, dryRun: "All" } },
        ),
      ),
    ]),
    ...["x", [], 1.5, true].map((replicas) =>
      step(patch(`${deployments.at}/${NAME}-d`, MERGE, { spec: { replicas } }, { query: { dryRun: "All" } })),
    ),
    // A field that no kind has, in the smallest object of each.
    ...Object.keys(SAMPLES).map((kind) => {
      const { at, body } = sampleOf(kind, NS, `${NAME}-u`);
      return step(post(at, { ...body, spoc: 1, status: 5 }, { query: { dryRun: "All", fieldValidation: "Strict" } }));
    }),
  ],
};
export default family;
