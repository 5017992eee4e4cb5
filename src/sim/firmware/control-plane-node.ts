/** What kubeadm does on a machine of the control plane beside what it does on any: which files it needs, what the Node bears, which Pods its kubelet runs from files. Pure. */
import type { Draft } from "@slipway/kube";
import type { Pod } from "@slipway/kube/core";

const ROLE = "node-role.kubernetes.io/control-plane";
const PKI = "/etc/kubernetes/pki";
const REGISTRY = "registry.k8s.io";

/** Taint of a control plane's Node where the configuration names none. */
export const CONTROL_PLANE = { key: ROLE, effect: "NoSchedule" };

export const CONTROL_PLANE_LABELS: Readonly<Record<string, string>> = {
  [ROLE]: "",
  "node.kubernetes.io/exclude-from-external-load-balancers": "",
};

/** What is wrong with the authorities on a machine that is to join a control plane whose certificates are by `ca` (PEM); undefined: nothing. */
export function missingAuthority(
  files: ReadonlyMap<string, string>,
  { ca, isExternalEtcd }: { ca: string; isExternalEtcd: boolean },
): string | undefined {
  const etcd = isExternalEtcd ? [] : ["etcd/ca.crt", "etcd/ca.key"];
  const needed = ["ca.crt", "ca.key", "sa.pub", "sa.key", "front-proxy-ca.crt", "front-proxy-ca.key", ...etcd];
  const missing = needed.find((name) => !files.get(`${PKI}/${name}`));
  if (missing !== undefined)
    return `kubeadm: ${PKI}/${missing} does not exist, and a control plane is joined with its cluster's authorities`;
  const isSame = files.get(`${PKI}/ca.crt`)!.trim() === ca.trim();
  return isSame ? undefined : `kubeadm: ${PKI}/ca.crt is not the authority of the cluster`;
}

/** The mirrors of the static Pods, as the kubelet of this Node creates them. */
export function staticPods(node: string, version: string, isExternalEtcd: boolean): Draft<Pod>[] {
  const names = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", ...(isExternalEtcd ? [] : ["etcd"])];
  return names.map((name) => ({
    metadata: {
      namespace: "kube-system",
      name: `${name}-${node}`,
      labels: { component: name, tier: "control-plane" },
      annotations: { "kubernetes.io/config.mirror": "simulated", "kubernetes.io/config.source": "file" },
    },
    spec: {
      ...{ nodeName: node, hostNetwork: true },
      containers: [{ name, image: `${REGISTRY}/${name}:${version}` }],
      tolerations: [{ operator: "Exists", effect: "NoExecute" }],
    },
  })) as Draft<Pod>[];
}
