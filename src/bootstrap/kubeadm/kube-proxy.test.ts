/** What is written here is what kubeadm of 1.36 installs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "js-yaml";
import { yamlDocument } from "./document.ts";
import { kubeProxyObjects } from "./kube-proxy.ts";
import { FACTS, objectIn, textIn } from "./testing.ts";

const DAEMON_SET = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  labels:
    k8s-app: kube-proxy
  name: kube-proxy
  namespace: kube-system
spec:
  selector:
    matchLabels:
      k8s-app: kube-proxy
  template:
    metadata:
      labels:
        k8s-app: kube-proxy
    spec:
      containers:
        - command:
            - /usr/local/bin/kube-proxy
            - --config=/var/lib/kube-proxy/config.conf
            - --hostname-override=$(NODE_NAME)
          env:
            - name: NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
          image: registry.k8s.io/kube-proxy:v1.36.3
          imagePullPolicy: IfNotPresent
          name: kube-proxy
          securityContext:
            privileged: true
          volumeMounts:
            - mountPath: /var/lib/kube-proxy
              name: kube-proxy
            - mountPath: /run/xtables.lock
              name: xtables-lock
            - mountPath: /lib/modules
              name: lib-modules
              readOnly: true
      hostNetwork: true
      nodeSelector:
        kubernetes.io/os: linux
      priorityClassName: system-node-critical
      serviceAccountName: kube-proxy
      tolerations:
        - operator: Exists
      volumes:
        - configMap:
            name: kube-proxy
          name: kube-proxy
        - hostPath:
            path: /run/xtables.lock
            type: FileOrCreate
          name: xtables-lock
        - hostPath:
            path: /lib/modules
          name: lib-modules
  updateStrategy:
    type: RollingUpdate
`;

test("kube-proxy of 1.36, field by field", () => {
  const objects = kubeProxyObjects(FACTS, {});
  assert.equal(yamlDocument(objectIn(objects, "DaemonSet", "kube-proxy")), DAEMON_SET);
  assert.deepEqual(load(textIn(objects, "kube-proxy", "config.conf")), {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    bindAddress: "0.0.0.0",
    clientConnection: { kubeconfig: "/var/lib/kube-proxy/kubeconfig.conf" },
    clusterCIDR: "10.244.0.0/16",
  });
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  assert.deepEqual(load(textIn(objects, "kube-proxy", "kubeconfig.conf")), {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { cluster: { "certificate-authority": `${account}/ca.crt`, server: "https://10.0.0.5:6443" }, name: "default" },
    ],
    contexts: [{ context: { cluster: "default", namespace: "default", user: "default" }, name: "default" }],
    "current-context": "default",
    users: [{ name: "default", user: { tokenFile: `${account}/token` } }],
  });
  const { labels, annotations } = objectIn(objects, "ConfigMap", "kube-proxy").metadata;
  assert.deepEqual(
    [labels, Object.keys(annotations!)],
    [{ app: "kube-proxy" }, ["kubeadm.kubernetes.io/component-config.hash"]],
  );
});

test("kube-proxy may proxy, and who joins may read how", () => {
  const objects = kubeProxyObjects(FACTS, {});
  assert.deepEqual(objectIn(objects, "ClusterRoleBinding", "kubeadm:node-proxier"), {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "kubeadm:node-proxier" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node-proxier" },
    subjects: [{ kind: "ServiceAccount", ...objectIn(objects, "ServiceAccount", "kube-proxy").metadata }],
  });
  assert.deepEqual(
    (objectIn(objects, "RoleBinding", "kube-proxy").subjects as { name: string }[]).map(({ name }) => name),
    ["system:bootstrappers:kubeadm:default-node-token"],
  );
});

test("a cluster without CIDRs of Pods names none, and binds to the family of its Services", () => {
  const text = textIn(kubeProxyObjects({ ...FACTS, podCidrs: [], serviceCidrs: [] }, {}), "kube-proxy", "config.conf");
  const found = load(text) as Record<string, unknown>;
  assert.deepEqual([found.clusterCIDR, found.bindAddress], [undefined, "0.0.0.0"]);
});
