import { KUBE_PUBLIC, KUBE_SYSTEM, type Manifest } from "./join-facts.ts";

const RBAC = "rbac.authorization.k8s.io";
/** Whom bootstrap tokens of kubeadm stand for. */
export const BOOTSTRAPPERS = "system:bootstrappers:kubeadm:default-node-token";

export interface Subject {
  kind: "Group" | "User" | "ServiceAccount";
  apiGroup?: string;
  name: string;
  namespace?: string;
}

const bootstrappers = subject("Group", BOOTSTRAPPERS);
const nodes = subject("Group", "system:nodes");

/** Roles and bindings by which a node joins, renews its certificate and is reached by the API server. The same in every version. */
export function accessObjects(): Manifest[] {
  const requests = "system:certificates.k8s.io:certificatesigningrequests";
  return [
    ...configMapReaders("kubeadm:nodes-kubeadm-config", KUBE_SYSTEM, "kubeadm-config", [bootstrappers, nodes]),
    ...configMapReaders("kubeadm:kubelet-config", KUBE_SYSTEM, "kubelet-config", [nodes, bootstrappers]),
    ...configMapReaders("kubeadm:bootstrap-signer-clusterinfo", KUBE_PUBLIC, "cluster-info", [
      subject("User", "system:anonymous"),
    ]),
    clusterRole("kubeadm:get-nodes", [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }]),
    clusterRoleBinding("kubeadm:get-nodes", "kubeadm:get-nodes", [bootstrappers]),
    clusterRoleBinding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", [bootstrappers]),
    clusterRoleBinding("kubeadm:node-autoapprove-bootstrap", `${requests}:nodeclient`, [bootstrappers]),
    clusterRoleBinding("kubeadm:node-autoapprove-certificate-rotation", `${requests}:selfnodeclient`, [nodes]),
    clusterRoleBinding("kubeadm:cluster-admins", "cluster-admin", [subject("Group", "kubeadm:cluster-admins")]),
    // kubeadm does so from 1.36 on; the certificate of a tenant's API server has no group in any version.
    clusterRoleBinding("kubeadm:apiserver-kubelet-client", "system:kubelet-api-admin", [
      subject("User", "kube-apiserver-kubelet-client"),
    ]),
  ];
}

/** A Role that reads one ConfigMap, and its binding of the same name. */
export function configMapReaders(
  name: string,
  namespace: string,
  configMap: string,
  subjects: readonly Subject[],
): Manifest[] {
  const metadata = { name, namespace };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [configMap], verbs: ["get"] }];
  return [
    { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC, kind: "Role", name },
      subjects,
    },
  ];
}

/** A ClusterRole. */
export function clusterRole(name: string, rules: readonly object[]): Manifest {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name }, rules };
}

/** A ClusterRoleBinding to a ClusterRole. */
export function clusterRoleBinding(name: string, role: string, subjects: readonly Subject[]): Manifest {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
    subjects,
  };
}

/** A ServiceAccount of kube-system, and the subject that it is. */
export function serviceAccount(name: string): { manifest: Manifest; subject: Subject } {
  return {
    manifest: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: KUBE_SYSTEM } },
    subject: { kind: "ServiceAccount", name, namespace: KUBE_SYSTEM },
  };
}

/** A group or user of RBAC. */
export function subject(kind: "Group" | "User", name: string): Subject {
  return { apiGroup: RBAC, kind, name };
}
