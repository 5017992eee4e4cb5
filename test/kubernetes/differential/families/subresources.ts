import { SAMPLES, sampleOf, workload } from "../samples/kinds.ts";
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

const NAME = "subresources";
const NS = `diff-${NAME}`;
const dry = { query: { dryRun: "All" } };

/** Scale of everything that has one. */
const scales: Step[] = ["Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"].flatMap((kind) => {
  const { at, body } = sampleOf(kind, NS, "s");
  const scale = `${at}/s/scale`;
  const whole = (more: Json): Json => ({ metadata: { name: "s", namespace: NS }, ...more });
  return [
    step(post(at, body)),
    step(get(scale), { keep: `${kind}-scale` }),
    step(put(scale, whole({ spec: { replicas: 4 } }))),
    step(get(`${at}/s`)),
    step(put(scale, whole({ spec: { replicas: -1 } }))),
    step(put(scale, whole({ spec: { replicas: "x" } }))),
    step(put(scale, whole({}))),
    step(put(scale, { spec: { replicas: 1 } })),
    step(put(scale, whole({ metadata: { name: "other" }, spec: { replicas: 1 } }))),
    step((kept) => put(scale, kept[`${kind}-scale`]!.body)),
    step(patch(scale, MERGE, { spec: { replicas: 2 } })),
    step(patch(scale, STRATEGIC, { spec: { replicas: 3 } })),
    step(patch(scale, JSON_PATCH, [{ op: "replace", path: "/spec/replicas", value: 5 }])),
    step(patch(scale, MERGE, { spec: { replicas: 6 } }, dry)),
    step(patch(scale, MERGE, { spec: { replicas: -2 } })),
    step(get(`${at}/absent/scale`)),
    step(put(`${at}/absent/scale`, { metadata: { name: "absent" }, spec: { replicas: 1 } })),
    step(del(scale)),
    step(post(scale, {})),
    step(patch(`${at}/s/status`, MERGE, { status: { replicas: 2, readyReplicas: 1 } })),
    step(patch(`${at}/s/status`, MERGE, { status: { replicas: -1 } })),
    step(patch(`${at}/s/status`, MERGE, { spec: { replicas: 9 }, status: { observedGeneration: 3 } })),
    step(get(scale)),
  ];
});

/** Status of every kind that has one: replaced with the whole object, in which nothing else counts. */
const statuses: Step[] = Object.keys(SAMPLES).flatMap((kind) => {
  const { at, body } = sampleOf(kind, NS, "t");
  return [
    step(post(at, body), { keep: kind, unseen: true }),
    step((kept) =>
      put(
        `${at}/t/status`,
        { ...kept[kind]!.body, metadata: { ...kept[kind]!.body.metadata, labels: { a: "b" } } },
        dry,
      ),
    ),
    step(get(`${at}/t/status`)),
    step(del(`${at}/t`, { gracePeriodSeconds: 0 }), { unseen: true }),
  ];
});

const space = `/api/v1/namespaces/${NAME}-n`;
const namespaces: Step[] = [
  step(post("/api/v1/namespaces", { metadata: { name: `${NAME}-n` }, spec: { finalizers: ["example.com/hold"] } })),
  step(patch(space, MERGE, { spec: { finalizers: [] } })),
  step(put(`${space}/finalize`, { metadata: { name: "other" }, spec: {} })),
  step(put(`${space}/finalize`, { metadata: { name: `${NAME}-n` }, spec: { finalizers: ["bad one"] } })),
  step(
    put(`${space}/finalize`, {
      metadata: { name: `${NAME}-n` },
      spec: { finalizers: ["kubernetes", "example.com/hold"] },
    }),
  ),
  step(patch(`${space}/status`, MERGE, { status: { phase: "Odd" } })),
  step(patch(`${space}/status`, MERGE, { status: { phase: "Terminating" } })),
  step(patch(`${space}/status`, MERGE, { status: { phase: "Active" } })),
  step(get(`${space}/finalize`)),
  step(del("/api/v1/namespaces/default")),
  step(del("/api/v1/namespaces/kube-system")),
];

/** Replacements that change what may not change. */
const REPLACED: readonly [kind: string, more: Json][] = [
  ["Deployment", { spec: { ...workload, selector: { matchLabels: { app: "x", b: "c" } } } }],
  ["Deployment", { metadata: { annotations: { a: "b" } } }],
  ["ReplicaSet", { spec: { ...workload, selector: { matchLabels: { app: "y" } } } }],
  ["DaemonSet", { spec: { ...workload, selector: { matchLabels: { app: "y" } } } }],
  ["StatefulSet", { spec: { ...workload, serviceName: "other" } }],
  ["StatefulSet", { spec: { ...workload, serviceName: "x", replicas: 3 } }],
  ["Secret", { type: "other" }],
  ["Secret", { immutable: true, data: { a: "MQ==" } }],
  ["Service", { spec: { ports: [{ port: 80 }], clusterIP: "10.96.9.9" } }],
  ["Service", { spec: { ports: [{ port: 81 }] } }],
  ["Service", { spec: { type: "ExternalName", externalName: "a.b" } }],
  ["Service", { spec: { type: "NodePort", ports: [{ port: 80 }] } }],
  ["Service", { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } }],
  ["Service", { spec: { clusterIP: "None", ports: [{ port: 80 }] } }],
  ["RoleBinding", { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "y" } }],
  ["PersistentVolumeClaim", { spec: { accessModes: ["ReadOnlyMany"], resources: { requests: { storage: "1Gi" } } } }],
  ["StorageClass", { provisioner: "other" }],
  ["PriorityClass", { value: 11 }],
  ["EndpointSlice", { addressType: "IPv6" }],
  ["ControllerRevision", { revision: 2, data: { b: 1 } }],
  ["Node", { spec: { providerID: "x" } }],
  ["Namespace", { spec: { finalizers: ["example.com/x"] } }],
  ["Event", { involvedObject: { kind: "Pod", namespace: NS, name: "y" }, reason: "S" }],
  ["ConfigMap", { immutable: true }],
];
const replaced: Step[] = REPLACED.flatMap(([kind, more], i) => {
  const { at, body } = sampleOf(kind, NS, `r${i}`);
  return [
    step(post(at, body), { unseen: true, keep: `r${i}` }),
    step((kept) =>
      put(
        `${at}/r${i}`,
        {
          ...body,
          ...more,
          metadata: { ...more.metadata, name: `r${i}`, resourceVersion: kept[`r${i}`]!.body.metadata.resourceVersion },
        },
        dry,
      ),
    ),
    step(del(`${at}/r${i}`), { unseen: true }),
  ];
});

const applied: Step[] = ["ConfigMap", "Service", "Deployment"].map((kind) => {
  const { at, body } = sampleOf(kind, NS, "applied");
  const [apiVersion] = /apps\/v1/.exec(at) ?? ["v1"];
  return step(
    patch(`${at}/applied`, APPLY, JSON.stringify({ apiVersion, kind, ...body }), { query: { fieldManager: "m" } }),
  );
});

const family: Family = { name: NAME, steps: [...scales, ...statuses, ...namespaces, ...replaced, ...applied] };
export default family;
