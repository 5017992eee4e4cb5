/**
 * The built-in kinds that the runtime and the systems touch, with the fields they use and no others.
 * Field names are the API's (core/v1, apps/v1, networking.k8s.io/v1, coordination.k8s.io/v1, policy/v1, apiextensions.k8s.io/v1,
 * storage.k8s.io/v1, discovery.k8s.io/v1).
 */
import type { Condition, KubeObject, ObjectMeta, Resource } from "./object.ts";

export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  timeAdded?: string;
}

export interface NodeCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
}

export interface Node extends KubeObject {
  spec?: { podCIDR?: string; podCIDRs?: string[]; providerID?: string; unschedulable?: boolean; taints?: Taint[] };
  status?: {
    addresses?: { type: string; address: string }[];
    conditions?: NodeCondition[];
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    nodeInfo?: Record<string, string>;
    volumesAttached?: { name: string; devicePath: string }[];
    volumesInUse?: string[];
  };
}
export const Node: Resource<Node> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
};

export interface Pod extends KubeObject {
  spec?: {
    nodeName?: string;
    containers?: Record<string, unknown>[];
    volumes?: (Record<string, unknown> & { name: string; emptyDir?: object })[];
    tolerations?: { key?: string; operator?: string; value?: string; effect?: string; tolerationSeconds?: number }[];
    nodeSelector?: Record<string, string>;
    terminationGracePeriodSeconds?: number;
    [field: string]: unknown;
  };
  status?: {
    phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    podIP?: string;
    hostIP?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string; lastTransitionTime?: string }[];
    [field: string]: unknown;
  };
}
export const Pod: Resource<Pod> = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Values under `data` are base64. */
export interface Secret extends KubeObject {
  type?: string;
  immutable?: boolean;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}
export const Secret: Resource<Secret> = {
  group: "",
  version: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
};

export interface ConfigMap extends KubeObject {
  immutable?: boolean;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}
export const ConfigMap: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export interface Service extends KubeObject {
  spec?: {
    type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
    clusterIP?: string;
    externalIPs?: string[];
    loadBalancerIP?: string;
    selector?: Record<string, string>;
    ports?: { name?: string; port: number; targetPort?: number | string; nodePort?: number; protocol?: string }[];
    [field: string]: unknown;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}
export const Service: Resource<Service> = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
};

export interface Deployment extends KubeObject {
  spec?: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: { metadata?: Partial<ObjectMeta>; spec?: Record<string, unknown> };
    [field: string]: unknown;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    unavailableReplicas?: number;
    terminatingReplicas?: number;
    collisionCount?: number;
    conditions?: {
      type: string;
      status: string;
      reason?: string;
      message?: string;
      lastUpdateTime?: string;
      lastTransitionTime?: string;
    }[];
  };
}
export const Deployment: Resource<Deployment> = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};

export interface Ingress extends KubeObject {
  spec?: Record<string, unknown>;
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}
export const Ingress: Resource<Ingress> = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
};

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: "Active" | "Terminating" };
}
export const Namespace: Resource<Namespace> = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

/** The core/v1 form, which `kubectl describe` reads. */
export interface Event extends KubeObject {
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  type?: "Normal" | "Warning";
  source?: { component?: string; host?: string };
  firstTimestamp?: string;
  lastTimestamp?: string;
  count?: number;
  reportingComponent?: string;
  reportingInstance?: string;
}
export const Event: Resource<Event> = { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true };

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}
export const Lease: Resource<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    selector?: { matchLabels?: Record<string, string>; matchExpressions?: object[] };
  };
  status?: {
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    observedGeneration?: number;
  };
}
export const PodDisruptionBudget: Resource<PodDisruptionBudget> = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: {
      plural: string;
      singular?: string;
      kind: string;
      listKind?: string;
      shortNames?: string[];
      categories?: string[];
    };
    versions: (Record<string, unknown> & { name: string; served: boolean; storage: boolean })[];
    [field: string]: unknown;
  };
  status?: { conditions?: Condition[]; storedVersions?: string[]; [field: string]: unknown };
}
export const CustomResourceDefinition: Resource<CustomResourceDefinition> = {
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

export interface VolumeAttachment extends KubeObject {
  spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
  status?: { attached: boolean };
}
export const VolumeAttachment: Resource<VolumeAttachment> = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
};

/** The wire form of a failure (`metav1.Status`). */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata?: Partial<ObjectMeta>;
  status?: "Success" | "Failure";
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    retryAfterSeconds?: number;
    causes?: { reason?: string; message?: string; field?: string }[];
  };
}
