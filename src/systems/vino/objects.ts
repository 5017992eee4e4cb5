/** Kinds of Kubernetes' own that the system writes beside those of the runtime. */
import type { KubeObject, Resource } from "@slipway/kube";

export interface DaemonSet extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    observedGeneration?: number;
    desiredNumberScheduled?: number;
    updatedNumberScheduled?: number;
    numberReady?: number;
  };
}
export const DaemonSet: Resource<DaemonSet> = {
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
};

export const ServiceAccount: Resource<KubeObject> = {
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export interface Rules extends KubeObject {
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}
export interface Binding extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace: string }[];
}
export const Role: Resource<Rules> = { ...RBAC, kind: "Role", plural: "roles", namespaced: true };
export const RoleBinding: Resource<Binding> = {
  ...RBAC,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};
export const ClusterRole: Resource<Rules> = { ...RBAC, kind: "ClusterRole", plural: "clusterroles", namespaced: false };
export const ClusterRoleBinding: Resource<Binding> = {
  ...RBAC,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};
