import { tryParseIp } from "@slipway/base";
import { clusterRole, clusterRoleBinding, serviceAccount } from "./access.ts";
import { dnsAddresses } from "./configurations.ts";
import { configMap } from "./document.ts";
import { type ImageChoice, type JoinFacts, KUBE_SYSTEM, type Manifest, minorOf } from "./join-facts.ts";

/** What kubeadm of each minor installs; a minor that is newer than this list gets the last. */
const VERSIONS: Readonly<Record<number, string>> = {
  27: "v1.10.1",
  28: "v1.10.1",
  29: "v1.11.1",
  30: "v1.11.3",
  31: "v1.11.3",
  32: "v1.11.3",
  33: "v1.12.0",
  34: "v1.12.1",
  35: "v1.13.1",
  36: "v1.14.2",
};
const NEWEST = Math.max(...Object.keys(VERSIONS).map(Number));

/** kubeadm keeps CoreDNS in a folder of its own there. */
const UPSTREAM_REGISTRY = "registry.k8s.io";
/** Since which minor kubeadm does so. */
const UNCACHED_CLUSTER_NAMES = 32;
const NAMED_PROBE_PORTS = 34;
const UPPER_CASE_CAPABILITIES = 29;
const UNTIL_READS_NODES = 27;
const PORTS = { dns: 53, metrics: 9153, liveness: 8080, readiness: 8181 };
const LABELS = { "k8s-app": "kube-dns" };

/** The version of CoreDNS that belongs to a version of Kubernetes. */
export function coreDnsVersion(version: string): string {
  return VERSIONS[Math.min(minorOf(version), NEWEST)]!;
}

/**
 * CoreDNS as kubeadm of the version installs it. The ConfigMap `coredns` is the user's once it is there (B20): create it, never overwrite it.
 */
export function coreDnsObjects(facts: JoinFacts, choice: ImageChoice): Manifest[] {
  const minor = minorOf(facts.version);
  const { manifest: account, subject } = serviceAccount("coredns");
  const rules = [
    { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
    ...(minor <= UNTIL_READS_NODES ? [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }] : []),
    { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  ];
  return [
    configMap("coredns", KUBE_SYSTEM, { Corefile: corefile(minor, facts.clusterDomain) }),
    clusterRole("system:coredns", rules),
    clusterRoleBinding("system:coredns", "system:coredns", [subject]),
    account,
    deployment(minor, coreDnsImage(facts, choice)),
    service(dnsAddresses(facts)),
  ];
}

/** Repository and tag are chosen one by one (B20). */
function coreDnsImage({ version, registry }: JoinFacts, { imageRepository, imageTag }: ImageChoice): string {
  const repository = imageRepository || registry;
  const folder = repository === UPSTREAM_REGISTRY ? `${repository}/coredns` : repository;
  return `${folder}/coredns:${imageTag || coreDnsVersion(version)}`;
}

function corefile(minor: number, domain: string): string {
  const cache =
    minor < UNCACHED_CLUSTER_NAMES
      ? ["    cache 30"]
      : ["    cache 30 {", `       disable success ${domain}`, `       disable denial ${domain}`, "    }"];
  const lines = [
    ".:53 {",
    "    errors",
    "    health {",
    "       lameduck 5s",
    "    }",
    "    ready",
    `    kubernetes ${domain} in-addr.arpa ip6.arpa {`,
    "       pods insecure",
    "       fallthrough in-addr.arpa ip6.arpa",
    "       ttl 30",
    "    }",
    "    prometheus :9153",
    "    forward . /etc/resolv.conf {",
    "       max_concurrent 1000",
    "    }",
    ...cache,
    "    loop",
    "    reload",
    "    loadbalance",
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

function deployment(minor: number, image: string): Manifest {
  const template = { metadata: { labels: LABELS }, spec: podSpec(minor, image) };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "coredns", namespace: KUBE_SYSTEM, labels: LABELS },
    spec: {
      replicas: 2,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
      selector: { matchLabels: LABELS },
      template,
    },
  };
}

function podSpec(minor: number, image: string): object {
  const sameApp = { matchExpressions: [{ key: "k8s-app", operator: "In", values: ["kube-dns"] }] };
  const apart = { weight: 100, podAffinityTerm: { labelSelector: sameApp, topologyKey: "kubernetes.io/hostname" } };
  return {
    priorityClassName: "system-cluster-critical",
    serviceAccountName: "coredns",
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [apart] } },
    tolerations: [
      { key: "CriticalAddonsOnly", operator: "Exists" },
      { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" },
    ],
    nodeSelector: { "kubernetes.io/os": "linux" },
    containers: [container(minor, image)],
    dnsPolicy: "Default",
    volumes: [
      { name: "config-volume", configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] } },
    ],
  };
}

function container(minor: number, image: string): object {
  const named = minor >= NAMED_PROBE_PORTS;
  const port = (name: string, containerPort: number, protocol = "TCP"): object => ({ containerPort, name, protocol });
  const probe = (path: string, name: string, number: number): object => ({
    httpGet: { path, port: named ? name : number, scheme: "HTTP" },
  });
  return {
    name: "coredns",
    image,
    imagePullPolicy: "IfNotPresent",
    resources: { limits: { memory: "170Mi" }, requests: { cpu: "100m", memory: "70Mi" } },
    args: ["-conf", "/etc/coredns/Corefile"],
    volumeMounts: [{ name: "config-volume", mountPath: "/etc/coredns", readOnly: true }],
    ports: [
      port("dns", PORTS.dns, "UDP"),
      port("dns-tcp", PORTS.dns),
      port("metrics", PORTS.metrics),
      ...(named ? [port("liveness-probe", PORTS.liveness), port("readiness-probe", PORTS.readiness)] : []),
    ],
    livenessProbe: {
      ...probe("/health", "liveness-probe", PORTS.liveness),
      initialDelaySeconds: 60,
      timeoutSeconds: 5,
      successThreshold: 1,
      failureThreshold: 5,
    },
    readinessProbe: probe("/ready", "readiness-probe", PORTS.readiness),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: ["NET_BIND_SERVICE"], drop: [minor >= UPPER_CASE_CAPABILITIES ? "ALL" : "all"] },
      readOnlyRootFilesystem: true,
    },
  };
}

function service(addresses: readonly string[]): Manifest {
  const port = (name: string, number: number, protocol = "TCP"): object => ({
    name,
    port: number,
    protocol,
    targetPort: number,
  });
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "kube-dns",
      namespace: KUBE_SYSTEM,
      labels: { ...LABELS, "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS" },
      annotations: { "prometheus.io/port": String(PORTS.metrics), "prometheus.io/scrape": "true" },
    },
    spec: {
      ...serviceAddresses(addresses),
      ports: [port("dns", PORTS.dns, "UDP"), port("dns-tcp", PORTS.dns), port("metrics", PORTS.metrics)],
      selector: LABELS,
    },
  };
}

/** kubeadm gives the Service its first address alone; with one of each family both answer. */
function serviceAddresses(addresses: readonly string[]): object {
  const [first] = addresses;
  const family = first === undefined ? undefined : tryParseIp(first)?.family;
  const second = addresses.find((address) => tryParseIp(address)?.family !== family);
  if (first === undefined) return {};
  if (second === undefined) return { clusterIP: first };
  return { clusterIP: first, clusterIPs: [first, second], ipFamilyPolicy: "PreferDualStack" };
}
