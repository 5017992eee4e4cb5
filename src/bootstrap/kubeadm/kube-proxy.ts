import { BOOTSTRAPPERS, clusterRoleBinding, configMapReaders, serviceAccount, subject } from "./access.ts";
import { configMap, signed, yamlDocument } from "./document.ts";
import { hostPort, type ImageChoice, imageTagOf, type JoinFacts, KUBE_SYSTEM, type Manifest } from "./join-facts.ts";

const NAME = "kube-proxy";
const FOLDER = "/var/lib/kube-proxy";
const CONFIG_FILE = "config.conf";
const KUBECONFIG_FILE = "kubeconfig.conf";
const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** kube-proxy as kubeadm of the version installs it. It has only fields that kube-proxies of all versions know. */
export function kubeProxyObjects(facts: JoinFacts, choice: ImageChoice): Manifest[] {
  const { manifest: account, subject: proxy } = serviceAccount(NAME);
  return [
    signed(
      labelled(
        configMap(NAME, KUBE_SYSTEM, { [CONFIG_FILE]: configuration(facts), [KUBECONFIG_FILE]: kubeconfig(facts) }),
      ),
    ),
    account,
    clusterRoleBinding("kubeadm:node-proxier", "system:node-proxier", [proxy]),
    ...configMapReaders(NAME, KUBE_SYSTEM, NAME, [subject("Group", BOOTSTRAPPERS)]),
    daemonSet(`${choice.imageRepository || facts.registry}/${NAME}:${choice.imageTag || imageTagOf(facts.version)}`),
  ];
}

function labelled(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, labels: { app: NAME } } };
}

function configuration({ podCidrs, serviceCidrs }: JoinFacts): string {
  const [first = ""] = serviceCidrs;
  return yamlDocument({
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    bindAddress: first.includes(":") ? "::" : "0.0.0.0",
    clientConnection: { kubeconfig: `${FOLDER}/${KUBECONFIG_FILE}` },
    ...(podCidrs.length > 0 && { clusterCIDR: podCidrs.join(",") }),
  });
}

function kubeconfig({ endpoint }: JoinFacts): string {
  return yamlDocument({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        cluster: {
          "certificate-authority": `${SERVICE_ACCOUNT_FOLDER}/ca.crt`,
          server: `https://${hostPort(endpoint)}`,
        },
        name: "default",
      },
    ],
    contexts: [{ context: { cluster: "default", namespace: "default", user: "default" }, name: "default" }],
    "current-context": "default",
    users: [{ name: "default", user: { tokenFile: `${SERVICE_ACCOUNT_FOLDER}/token` } }],
  });
}

function daemonSet(image: string): Manifest {
  const labels = { "k8s-app": NAME };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: NAME, namespace: KUBE_SYSTEM, labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: "system-node-critical",
          containers: [container(image)],
          hostNetwork: true,
          serviceAccountName: NAME,
          volumes: [
            { name: NAME, configMap: { name: NAME } },
            { name: "xtables-lock", hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" } },
            { name: "lib-modules", hostPath: { path: "/lib/modules" } },
          ],
          tolerations: [{ operator: "Exists" }],
          nodeSelector: { "kubernetes.io/os": "linux" },
        },
      },
    },
  };
}

function container(image: string): object {
  return {
    name: NAME,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/usr/local/bin/kube-proxy", `--config=${FOLDER}/${CONFIG_FILE}`, "--hostname-override=$(NODE_NAME)"],
    securityContext: { privileged: true },
    volumeMounts: [
      { mountPath: FOLDER, name: NAME },
      { mountPath: "/run/xtables.lock", name: "xtables-lock" },
      { mountPath: "/lib/modules", name: "lib-modules", readOnly: true },
    ],
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
  };
}
