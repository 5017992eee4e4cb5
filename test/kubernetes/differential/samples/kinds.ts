/** The smallest valid object of each built-in kind, in its collection; families make their cases from these. */
import type { Json } from "../step.ts";

export interface Sample {
  /** Path of the collection; `NS` stands for the family's namespace. */
  at: string;
  body: Json;
}

const container = { name: "a", image: "registry.example.com/a:1" };
export const template: Json = { metadata: { labels: { app: "x" } }, spec: { containers: [container] } };
export const workload: Json = { selector: { matchLabels: { app: "x" } }, template };
const v1 = "/api/v1/namespaces/NS";
const group = (name: string) => `/apis/${name}/namespaces/NS`;

export const SAMPLES: Readonly<Record<string, Sample>> = {
  ConfigMap: { at: `${v1}/configmaps`, body: { data: { a: "1" } } },
  Secret: { at: `${v1}/secrets`, body: { data: { a: "MQ==" } } },
  ServiceAccount: { at: `${v1}/serviceaccounts`, body: {} },
  Service: { at: `${v1}/services`, body: { spec: { ports: [{ port: 80 }] } } },
  Endpoints: { at: `${v1}/endpoints`, body: { subsets: [{ addresses: [{ ip: "10.1.2.3" }], ports: [{ port: 80 }] }] } },
  PersistentVolumeClaim: {
    at: `${v1}/persistentvolumeclaims`,
    body: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  },
  Pod: { at: `${v1}/pods`, body: { spec: { containers: [container] } } },
  Event: { at: `${v1}/events`, body: { involvedObject: { kind: "Pod", namespace: "NS", name: "x" }, reason: "R" } },
  ReplicationController: { at: `${v1}/replicationcontrollers`, body: { spec: { template } } },
  Deployment: { at: `${group("apps/v1")}/deployments`, body: { spec: workload } },
  ReplicaSet: { at: `${group("apps/v1")}/replicasets`, body: { spec: workload } },
  DaemonSet: { at: `${group("apps/v1")}/daemonsets`, body: { spec: workload } },
  StatefulSet: { at: `${group("apps/v1")}/statefulsets`, body: { spec: { ...workload, serviceName: "x" } } },
  ControllerRevision: { at: `${group("apps/v1")}/controllerrevisions`, body: { revision: 1, data: { a: 1 } } },
  Job: {
    at: `${group("batch/v1")}/jobs`,
    body: { spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } },
  },
  CronJob: {
    at: `${group("batch/v1")}/cronjobs`,
    body: {
      spec: {
        schedule: "1 2 3 * *",
        jobTemplate: { spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } } },
      },
    },
  },
  Role: {
    at: `${group("rbac.authorization.k8s.io/v1")}/roles`,
    body: { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  },
  RoleBinding: {
    at: `${group("rbac.authorization.k8s.io/v1")}/rolebindings`,
    body: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "x" },
      subjects: [{ kind: "User", name: "u" }],
    },
  },
  Lease: { at: `${group("coordination.k8s.io/v1")}/leases`, body: { spec: { holderIdentity: "me" } } },
  PodDisruptionBudget: {
    at: `${group("policy/v1")}/poddisruptionbudgets`,
    body: { spec: { minAvailable: 1, selector: { matchLabels: { app: "x" } } } },
  },
  NetworkPolicy: {
    at: `${group("networking.k8s.io/v1")}/networkpolicies`,
    body: { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
  },
  EndpointSlice: {
    at: `${group("discovery.k8s.io/v1")}/endpointslices`,
    body: { addressType: "IPv4", endpoints: [{ addresses: ["10.1.2.3"] }], ports: [{ port: 80 }] },
  },
  Namespace: { at: "/api/v1/namespaces", body: {} },
  Node: { at: "/api/v1/nodes", body: {} },
  PersistentVolume: {
    at: "/api/v1/persistentvolumes",
    body: {
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp/x" } },
    },
  },
  ClusterRole: {
    at: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    body: { rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }] },
  },
  ClusterRoleBinding: {
    at: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    body: { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "x" } },
  },
  ValidatingWebhookConfiguration: {
    at: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: { webhooks: [] },
  },
  MutatingWebhookConfiguration: {
    at: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    body: { webhooks: [] },
  },
  CertificateSigningRequest: {
    at: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    body: { spec: { request: "bm8gcmVxdWVzdA==", signerName: "example.com/signer", usages: ["client auth"] } },
  },
  RuntimeClass: { at: "/apis/node.k8s.io/v1/runtimeclasses", body: { handler: "runc" } },
  PriorityClass: { at: "/apis/scheduling.k8s.io/v1/priorityclasses", body: { value: 10 } },
  StorageClass: { at: "/apis/storage.k8s.io/v1/storageclasses", body: { provisioner: "example.com/p" } },
  VolumeAttachment: {
    at: "/apis/storage.k8s.io/v1/volumeattachments",
    body: { spec: { attacher: "example.com", nodeName: "n", source: { persistentVolumeName: "pv" } } },
  },
  CSINode: { at: "/apis/storage.k8s.io/v1/csinodes", body: { spec: { drivers: [] } } },
  CSIDriver: { at: "/apis/storage.k8s.io/v1/csidrivers", body: {} },
};

/** A sample's collection and its object by this name, in a family's namespace. */
export function sampleOf(kind: string, namespace: string, name: string): { at: string; body: Json } {
  const { at, body } = SAMPLES[kind]!;
  const text = JSON.stringify({ ...body, metadata: { name } }).replaceAll('"NS"', `"${namespace}"`);
  return { at: at.replace("NS", namespace), body: JSON.parse(text) };
}
