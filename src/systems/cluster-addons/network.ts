/**
 * What a workload cluster holds for the small network of ours (docs/node-image.md, `node-net`): a bridge on each node with addresses of its
 * podCIDR, and a route to each other node's. Pure.
 */
import type { Ref, Resource } from "@slipway/kube";

const NAME = "slipway:nodes-see-nodes";
const APP = "slipway-node-network";
const RBAC = "rbac.authorization.k8s.io";
const LABELS = { "app.kubernetes.io/name": APP, "app.kubernetes.io/managed-by": "slipway" };

/** An object to apply, and what it is. */
export interface Wanted {
  resource: Resource;
  ref: Ref;
  body: object;
}

const of = (group: string, kind: string, namespaced: boolean): Resource => ({
  ...{ group, version: "v1", kind, plural: `${kind.toLowerCase()}s`, namespaced },
});
const ROLE = of(RBAC, "ClusterRole", false);
const BINDING = of(RBAC, "ClusterRoleBinding", false);
const DAEMON_SET = of("apps", "DaemonSet", true);

/**
 * The objects of the add-on. Nodes of the node image have the program; `image` brings it to others: to each node, by a DaemonSet. A network
 * plugin that is installed besides wins, since its file sorts before.
 */
export function networkObjects(image: string | undefined): readonly Wanted[] {
  return [...mayList(), ...(image === undefined ? [] : [onEachNode(image)])];
}

const wanted = (resource: Resource, metadata: Ref, rest: object): Wanted => {
  const { name, namespace } = metadata;
  const apiVersion = `${resource.group}/${resource.version}`;
  const body = { apiVersion, kind: resource.kind, metadata: { ...metadata, labels: LABELS }, ...rest };
  return { resource, ref: { name, ...(namespace !== undefined && { namespace }) }, body };
};

function mayList(): Wanted[] {
  const rules = [{ apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] }];
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: NAME };
  const subjects = [{ apiGroup: RBAC, kind: "Group", name: "system:nodes" }];
  return [wanted(ROLE, { name: NAME }, { rules }), wanted(BINDING, { name: NAME }, { roleRef, subjects })];
}

/** The program works in the host's root, read-only but for the folder of CNI configurations: it takes the kubelet's kubeconfig and the host's `ip`. */
function onEachNode(image: string): Wanted {
  const selector = { "app.kubernetes.io/name": APP };
  const container = {
    ...{ name: "node-net", image, args: ["--root=/host"] },
    resources: { requests: { cpu: "10m", memory: "16Mi" } },
    securityContext: {
      ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, runAsUser: 0 },
      capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "SYS_CHROOT"] },
    },
    volumeMounts: [
      { name: "host", mountPath: "/host", readOnly: true },
      { name: "cni", mountPath: "/host/etc/cni/net.d" },
    ],
  };
  const spec = {
    ...{ hostNetwork: true, priorityClassName: "system-node-critical", automountServiceAccountToken: false },
    tolerations: [{ operator: "Exists" }],
    nodeSelector: { "kubernetes.io/os": "linux" },
    containers: [container],
    volumes: [
      { name: "host", hostPath: { path: "/" } },
      { name: "cni", hostPath: { path: "/etc/cni/net.d", type: "DirectoryOrCreate" } },
    ],
  };
  const template = { metadata: { labels: LABELS }, spec };
  const ref = { namespace: "kube-system", name: APP };
  return wanted(DAEMON_SET, ref, { spec: { selector: { matchLabels: selector }, template } });
}
