import assert from "node:assert/strict";
import { test } from "node:test";
import { builtin, filledIn } from "./testing.ts";

const service = { clientConfig: { service: { name: "x", namespace: "y" } } };
const webhooks = [{ name: "a", ...service, rules: [{ operations: ["*"] }] }];
const WEBHOOK = {
  name: "a",
  clientConfig: { service: { name: "x", namespace: "y", port: 443 } },
  rules: [{ operations: ["*"], scope: "*" }],
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
  sideEffects: null,
  admissionReviewVersions: null,
};
const POD = {
  ...{ restartPolicy: "Always", terminationGracePeriodSeconds: 30, dnsPolicy: "ClusterFirst", securityContext: {} },
  ...{ schedulerName: "default-scheduler", containers: null },
};
const template = { metadata: {}, spec: POD };
const rolling = (rollingUpdate: object) => ({ type: "RollingUpdate", rollingUpdate });
const iscsi = { targetPortal: "10.0.0.1", iqn: "iqn.2026-01.example:a", lun: 1 };

/** A kind, what is given, and what the object has when upstream's defaults are filled in. */
const rows: readonly [kind: string, given: object, filled: object][] = [
  ["MutatingWebhookConfiguration", { webhooks }, { webhooks: [{ ...WEBHOOK, reinvocationPolicy: "Never" }] }],
  ["ValidatingWebhookConfiguration", { webhooks }, { webhooks: [WEBHOOK] }],
  [
    "APIService",
    { spec: { service: { name: "x" } } },
    { spec: { service: { name: "x", port: 443 }, groupPriorityMinimum: 0, versionPriority: 0 }, status: {} },
  ],
  [
    "DaemonSet",
    { spec: {} },
    {
      spec: {
        ...{ template, selector: null, revisionHistoryLimit: 10 },
        updateStrategy: rolling({ maxUnavailable: 1, maxSurge: 0 }),
      },
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  ],
  [
    "Deployment",
    { spec: {} },
    {
      spec: {
        ...{ template, selector: null, replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
        strategy: rolling({ maxUnavailable: "25%", maxSurge: "25%" }),
      },
      status: {},
    },
  ],
  ["ReplicaSet", { spec: {} }, { spec: { template, selector: null, replicas: 1 }, status: { replicas: 0 } }],
  ["ReplicationController", { spec: {} }, { spec: { replicas: 1 }, status: { replicas: 0 } }],
  [
    "StatefulSet",
    { spec: {} },
    {
      spec: {
        ...{ template, selector: null, serviceName: "", replicas: 1, revisionHistoryLimit: 10 },
        ...{ podManagementPolicy: "OrderedReady", updateStrategy: rolling({ partition: 0 }) },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  ],
  [
    "CronJob",
    { spec: {} },
    {
      spec: {
        ...{ schedule: "", concurrencyPolicy: "Allow", suspend: false },
        ...{ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
        jobTemplate: { metadata: {}, spec: { template } },
      },
      status: {},
    },
  ],
  ["Endpoints", { subsets: [{ ports: [{ port: 1 }] }] }, { subsets: [{ ports: [{ port: 1, protocol: "TCP" }] }] }],
  ["EndpointSlice", { ports: [{}] }, { addressType: "", endpoints: null, ports: [{ name: "", protocol: "TCP" }] }],
  [
    "Service",
    { spec: { ports: [{ port: 1 }] } },
    {
      spec: {
        ...{ type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster" },
        ports: [{ port: 1, targetPort: 1, protocol: "TCP" }],
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    "NetworkPolicy",
    { spec: { ingress: [{ ports: [{ port: 1 }] }] } },
    { spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 1, protocol: "TCP" }] }] } },
  ],
  ["PriorityClass", {}, { value: 0, preemptionPolicy: "PreemptLowerPriority" }],
  [
    "CSIDriver",
    { spec: {} },
    {
      spec: {
        ...{ attachRequired: true, podInfoOnMount: false, requiresRepublish: false, seLinuxMount: false },
        ...{ storageCapacity: false, fsGroupPolicy: "ReadWriteOnceWithFSType", volumeLifecycleModes: ["Persistent"] },
      },
    },
  ],
  ["StorageClass", {}, { provisioner: "", reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }],
  [
    "PersistentVolumeClaim",
    { spec: {} },
    { spec: { resources: {}, volumeMode: "Filesystem" }, status: { phase: "Pending" } },
  ],
  [
    "PersistentVolume",
    { spec: { iscsi } },
    {
      spec: {
        ...{ iscsi: { ...iscsi, iscsiInterface: "default" } },
        ...{ persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" },
      },
      status: { phase: "Pending" },
    },
  ],
];

for (const [kind, given, filled] of rows)
  test(`what a ${kind} leaves out has Kubernetes' defaults`, () => {
    const { apiVersion: _, kind: _kind, metadata: __, ...rest } = filledIn(builtin(kind), given);
    assert.deepEqual(rest, filled);
  });

test("what a Pod's volumes, probes and variables leave out has Kubernetes' defaults", () => {
  const sources = [{ serviceAccountToken: { path: "x" } }];
  const fieldRef = { fieldPath: "metadata.name" };
  const probe = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  const { containers, volumes } = filledIn(builtin("Pod"), {
    spec: {
      containers: [{ name: "a", readinessProbe: { grpc: { port: 1 } }, env: [{ name: "A", valueFrom: { fieldRef } }] }],
      volumes: [
        { name: "a", configMap: { name: "x" } },
        { name: "b", secret: { secretName: "x" } },
        { name: "c", hostPath: { path: "/" } },
        { name: "d", downwardAPI: { items: [{ path: "x", fieldRef }] } },
        { name: "e", projected: { sources } },
        { name: "f", iscsi },
      ],
    },
  }).spec as { containers: { readinessProbe: object; env: object[]; resources: object }[]; volumes: object[] };
  assert.deepEqual(containers[0]!.readinessProbe, { grpc: { port: 1, service: "" }, ...probe });
  assert.deepEqual(containers[0]!.env, [{ name: "A", valueFrom: { fieldRef: { ...fieldRef, apiVersion: "v1" } } }]);
  assert.deepEqual(containers[0]!.resources, {});
  assert.deepEqual(volumes, [
    { name: "a", configMap: { name: "x", defaultMode: 0o644 } },
    { name: "b", secret: { secretName: "x", defaultMode: 0o644 } },
    { name: "c", hostPath: { path: "/", type: "" } },
    {
      name: "d",
      downwardAPI: { items: [{ path: "x", fieldRef: { ...fieldRef, apiVersion: "v1" } }], defaultMode: 0o644 },
    },
    {
      name: "e",
      projected: { sources: [{ serviceAccountToken: { path: "x", expirationSeconds: 3600 } }], defaultMode: 0o644 },
    },
    { name: "f", iscsi: { ...iscsi, iscsiInterface: "default" } },
  ]);
});
