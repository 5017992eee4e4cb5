import assert from "node:assert/strict";
import { test } from "node:test";
import { accessObjects, type Subject } from "./access.ts";
import type { Manifest } from "./join-facts.ts";

/** An object of RBAC in one line. */
function line({ apiVersion, kind, metadata, rules, roleRef, subjects }: Manifest): string {
  assert.equal(apiVersion, "rbac.authorization.k8s.io/v1");
  const name = [metadata.namespace, metadata.name].filter(Boolean).join("/");
  if (rules !== undefined) return `${kind} ${name}: ${JSON.stringify(rules)}`;
  const { apiGroup, ...role } = roleRef as Record<string, string>;
  assert.equal(apiGroup, "rbac.authorization.k8s.io");
  const whom = (subjects as Subject[]).map((one) => `${one.apiGroup === apiGroup ? "" : "?"}${one.kind} ${one.name}`);
  return `${kind} ${name}: ${role.kind} ${role.name} to ${whom.join(", ")}`;
}

const read = (name: string) =>
  `[{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["${name}"],"verbs":["get"]}]`;
const TOKENS = "Group system:bootstrappers:kubeadm:default-node-token";
const REQUESTS = "system:certificates.k8s.io:certificatesigningrequests";

test("who joins may do what kubeadm lets it do, and nothing else", () => {
  assert.deepEqual(accessObjects().map(line), [
    `Role kube-system/kubeadm:nodes-kubeadm-config: ${read("kubeadm-config")}`,
    `RoleBinding kube-system/kubeadm:nodes-kubeadm-config: Role kubeadm:nodes-kubeadm-config to ${TOKENS}, Group system:nodes`,
    `Role kube-system/kubeadm:kubelet-config: ${read("kubelet-config")}`,
    `RoleBinding kube-system/kubeadm:kubelet-config: Role kubeadm:kubelet-config to Group system:nodes, ${TOKENS}`,
    `Role kube-public/kubeadm:bootstrap-signer-clusterinfo: ${read("cluster-info")}`,
    "RoleBinding kube-public/kubeadm:bootstrap-signer-clusterinfo: Role kubeadm:bootstrap-signer-clusterinfo to User system:anonymous",
    'ClusterRole kubeadm:get-nodes: [{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]}]',
    `ClusterRoleBinding kubeadm:get-nodes: ClusterRole kubeadm:get-nodes to ${TOKENS}`,
    `ClusterRoleBinding kubeadm:kubelet-bootstrap: ClusterRole system:node-bootstrapper to ${TOKENS}`,
    `ClusterRoleBinding kubeadm:node-autoapprove-bootstrap: ClusterRole ${REQUESTS}:nodeclient to ${TOKENS}`,
    `ClusterRoleBinding kubeadm:node-autoapprove-certificate-rotation: ClusterRole ${REQUESTS}:selfnodeclient to Group system:nodes`,
    "ClusterRoleBinding kubeadm:cluster-admins: ClusterRole cluster-admin to Group kubeadm:cluster-admins",
    "ClusterRoleBinding kubeadm:apiserver-kubelet-client: ClusterRole system:kubelet-api-admin to User kube-apiserver-kubelet-client",
  ]);
});
