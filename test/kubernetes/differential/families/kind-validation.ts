import { SAMPLES, sampleOf, template, workload } from "../samples/kinds.ts";
import { type Family, type Json, post, step } from "../step.ts";

const NAME = "kind-validation";
const NS = `diff-${NAME}`;
const dry = { query: { dryRun: "All" } };

const container = { name: "a", image: "i" };
const pod = (spec: Json): [string, Json] => ["Pod", { spec }];
const one = (more: Json): [string, Json] => pod({ containers: [{ ...container, ...more }] });
const deployment = (spec: Json): [string, Json] => ["Deployment", { spec: { ...workload, ...spec } }];
const service = (spec: Json): [string, Json] => ["Service", { spec }];
const port = { port: 80 };

/** Specs that decode and are refused; by kind. */
const BODIES: readonly [kind: string, body: Json][] = [
  pod({}),
  pod({ containers: [] }),
  pod({ containers: [{}] }),
  pod({ containers: [{ name: "A_b", image: "i" }] }),
  pod({ containers: [container, container] }),
  pod({ containers: [container], initContainers: [container] }),
  pod({ containers: [{ name: "a", image: " " }] }),
  pod({ containers: [container], restartPolicy: "Sometimes", dnsPolicy: "No" }),
  pod({ containers: [container], terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 }),
  pod({ containers: [container], nodeSelector: { "a b": "c d" } }),
  pod({ containers: [container], nodeName: "A b" }),
  pod({ containers: [container], serviceAccountName: "A b" }),
  pod({ containers: [container], hostname: "A.b", subdomain: "A.b" }),
  pod({
    containers: [container],
    tolerations: [
      { key: "a b", operator: "Is" },
      { effect: "No", value: "x" },
    ],
  }),
  pod({ containers: [container], tolerations: [{ key: "a", operator: "Exists", value: "x", tolerationSeconds: 1 }] }),
  pod({ containers: [container], volumes: [{ name: "v" }, { name: "v" }, { name: "" }, { name: "A" }] }),
  pod({ containers: [container], volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/x" } }] }),
  pod({
    containers: [container],
    volumes: [
      { name: "v", secret: {} },
      { name: "w", configMap: {} },
    ],
  }),
  pod({ containers: [container], volumes: [{ name: "v", hostPath: { path: "" } }] }),
  pod({ containers: [container], imagePullSecrets: [{}] }),
  pod({ containers: [container], priorityClassName: "missing" }),
  pod({ containers: [container], priority: 5 }),
  pod({ containers: [container], hostAliases: [{ ip: "x" }] }),
  one({ ports: [{ containerPort: 0 }] }),
  one({ ports: [{ containerPort: 70000, protocol: "ICMP", name: "A_very_long_name_x" }] }),
  one({
    ports: [
      { containerPort: 80, name: "a" },
      { containerPort: 81, name: "a" },
    ],
  }),
  one({ ports: [{ containerPort: 80, hostPort: 99999 }] }),
  one({
    env: [{}, { name: "a b" }, { name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
  }),
  one({ env: [{ name: "A", valueFrom: {} }] }),
  one({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }] }),
  one({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.foo" } } }] }),
  one({ envFrom: [{}, { configMapRef: {} }] }),
  one({ volumeMounts: [{ name: "none", mountPath: "/x" }] }),
  one({ volumeMounts: [{ name: "", mountPath: "" }] }),
  one({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }),
  one({ resources: { limits: { cpu: "-1" } } }),
  one({ resources: { limits: { "bad name": "1" } } }),
  one({ imagePullPolicy: "Maybe" }),
  one({ terminationMessagePolicy: "Maybe", terminationMessagePath: "" }),
  one({ livenessProbe: {} }),
  one({ livenessProbe: { httpGet: { port: 0 }, exec: { command: ["a"] } } }),
  one({ livenessProbe: { exec: {}, periodSeconds: -1, timeoutSeconds: -1, successThreshold: 2 } }),
  one({ lifecycle: { preStop: {} } }),
  one({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
  one({ securityContext: { runAsUser: -1 } }),
  deployment({ selector: undefined }),
  deployment({ selector: {} }),
  deployment({ selector: { matchLabels: { app: "y" } } }),
  deployment({ selector: { matchLabels: { "a b": "c d" } } }),
  deployment({
    selector: {
      matchExpressions: [
        { key: "a", operator: "Is" },
        { key: "a", operator: "In" },
      ],
    },
  }),
  deployment({ selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] } }),
  deployment({ replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 }),
  deployment({ progressDeadlineSeconds: 5, minReadySeconds: 5 }),
  deployment({ strategy: { type: "Recreate", rollingUpdate: {} } }),
  deployment({ strategy: { type: "Other" } }),
  deployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  deployment({ strategy: { rollingUpdate: { maxSurge: "x", maxUnavailable: "101%" } } }),
  deployment({ strategy: { rollingUpdate: { maxSurge: -1 } } }),
  deployment({ template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } }),
  deployment({ template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 5 } } }),
  deployment({ template: { metadata: { labels: { app: "x", "b c": "d" } }, spec: {} } }),
  ["ReplicaSet", { spec: { replicas: -1 } }],
  ["ReplicaSet", { spec: { ...workload, selector: { matchLabels: { a: "b" } } } }],
  ["ReplicationController", { spec: {} }],
  ["ReplicationController", { spec: { replicas: -1, selector: { a: "b" }, template } }],
  ["DaemonSet", { spec: {} }],
  ["DaemonSet", { spec: { ...workload, updateStrategy: { type: "X" } } }],
  ["DaemonSet", { spec: { ...workload, updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } } }],
  ["StatefulSet", { spec: {} }],
  ["StatefulSet", { spec: { ...workload, podManagementPolicy: "X", updateStrategy: { type: "X" } } }],
  ["Job", { spec: {} }],
  ["Job", { spec: { template } }],
  ["Job", { spec: { template: { spec: { containers: [container], restartPolicy: "Never" } }, parallelism: -1 } }],
  [
    "Job",
    {
      spec: {
        template: { spec: { containers: [container], restartPolicy: "Never" } },
        selector: { matchLabels: { a: "b" } },
      },
    },
  ],
  ["CronJob", { spec: { schedule: "x", concurrencyPolicy: "X", jobTemplate: {} } }],
  service({}),
  service({ ports: [{}] }),
  service({ ports: [port, port] }),
  service({
    ports: [
      { ...port, name: "a" },
      { port: 81, name: "a" },
    ],
  }),
  service({
    ports: [
      { ...port, name: "a" },
      { ...port, name: "b" },
    ],
  }),
  service({ ports: [{ ...port, protocol: "ICMP" }] }),
  service({ ports: [{ port: 70000, targetPort: "A_b" }] }),
  service({ ports: [{ port: 80, targetPort: 70000 }] }),
  service({ ports: [{ port: 80, nodePort: 30001 }] }),
  service({ type: "Other", ports: [port] }),
  service({ type: "ExternalName" }),
  service({ type: "ExternalName", externalName: "A b" }),
  service({ type: "ExternalName", externalName: "x.example.com", clusterIP: "10.96.0.50" }),
  service({ type: "NodePort", clusterIP: "None", ports: [port] }),
  service({ clusterIP: "x", ports: [port] }),
  service({ clusterIP: "192.168.1.1", ports: [port] }),
  service({ clusterIP: "None" }),
  service({ sessionAffinity: "X", ports: [port] }),
  service({ sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } }, ports: [port] }),
  service({ selector: { "a b": "c d" }, ports: [port] }),
  service({ externalTrafficPolicy: "Local", ports: [port] }),
  service({ internalTrafficPolicy: "X", ports: [port] }),
  service({ ipFamilies: ["IPv5"], ipFamilyPolicy: "X", ports: [port] }),
  service({ ipFamilies: ["IPv6"], ports: [port] }),
  service({ externalIPs: ["x"], loadBalancerSourceRanges: ["x"], ports: [port] }),
  ["ConfigMap", { data: { "a b": "1" } }],
  ["ConfigMap", { data: { "..": "2" } }],
  ["ConfigMap", { data: { a: "1" }, binaryData: { a: "MQ==" } }],
  ["ConfigMap", { data: { a: "x".repeat(1024 * 1024 + 1) } }],
  ["Secret", { data: { "a b": "MQ==" } }],
  ["Secret", { type: "kubernetes.io/tls", data: {} }],
  ["Secret", { type: "kubernetes.io/basic-auth" }],
  ["Secret", { type: "kubernetes.io/ssh-auth" }],
  ["Secret", { type: "kubernetes.io/dockerconfigjson" }],
  ["Secret", { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "MQ==" } }],
  ["Secret", { type: "kubernetes.io/dockercfg", stringData: { ".dockercfg": "{" } }],
  ["Secret", { type: "kubernetes.io/service-account-token" }],
  ["Secret", { type: "bootstrap.kubernetes.io/token", data: {} }],
  ["Node", { spec: { taints: [{}] } }],
  ["Node", { spec: { taints: [{ key: "a b", value: "c d", effect: "No" }] } }],
  [
    "Node",
    {
      spec: {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoSchedule" },
        ],
      },
    },
  ],
  ["Node", { spec: { podCIDR: "x" } }],
  ["Node", { spec: { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] } }],
  ["Node", { spec: { providerID: "x" }, status: { capacity: { cpu: "-1" } } }],
  ["Namespace", { spec: { finalizers: ["a b", "x"] } }],
  ["PodDisruptionBudget", { spec: { minAvailable: 1, maxUnavailable: 1 } }],
  ["PodDisruptionBudget", { spec: { minAvailable: "x" } }],
  ["PodDisruptionBudget", { spec: { minAvailable: "101%" } }],
  ["PodDisruptionBudget", { spec: { maxUnavailable: -1 } }],
  ["PodDisruptionBudget", { spec: { unhealthyPodEvictionPolicy: "X", selector: { matchExpressions: [{ key: "" }] } } }],
  [
    "NetworkPolicy",
    { spec: { policyTypes: ["Ingress", "Egress", "X"], egress: [{ to: [{}], ports: [{ port: 0 }] }] } },
  ],
  ["NetworkPolicy", { spec: { policyTypes: ["X"], egress: [{ ports: [{ endPort: 5 }, { port: "x", endPort: 5 }] }] } }],
  ["NetworkPolicy", { spec: { egress: [{ ports: [{ port: 9, endPort: 5 }, { port: "A_b" }, { protocol: "X" }] }] } }],
  ["NetworkPolicy", { spec: { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] } }],
  ["NetworkPolicy", { spec: { ingress: [{ from: [{ ipBlock: {} }, { ipBlock: { cidr: "10.0.0.0" } }] }] } }],
  [
    "NetworkPolicy",
    { spec: { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/9", "x", "10.0.0.0/8"] } }] }] } },
  ],
  ["Lease", { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }],
  ["Lease", { spec: { holderIdentity: "" } }],
  ["Lease", { spec: { strategy: "X", preferredHolder: "y" } }],
  ["Role", { rules: [{}] }],
  ["Role", { rules: [{ verbs: ["get"] }] }],
  ["Role", { rules: [{ verbs: ["get"], resources: ["pods"] }] }],
  ["Role", { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] }],
  ["ClusterRole", { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"], resources: ["pods"], apiGroups: [""] }] }],
  ["ClusterRole", { aggregationRule: {} }],
  ["RoleBinding", {}],
  ["RoleBinding", { roleRef: { kind: "X", name: "" }, subjects: [{}] }],
  [
    "RoleBinding",
    { roleRef: { apiGroup: "x", kind: "Role", name: "a" }, subjects: [{ kind: "ServiceAccount", name: "a" }] },
  ],
  ["ClusterRoleBinding", { roleRef: { kind: "Role", name: "a" }, subjects: [{ kind: "User", name: "" }] }],
  ["CertificateSigningRequest", { spec: { signerName: "x", request: "" } }],
  [
    "CertificateSigningRequest",
    { spec: { signerName: "kubernetes.io/legacy-unknown", request: "MQ==", usages: ["x"] } },
  ],
  [
    "CertificateSigningRequest",
    { spec: { signerName: "a.b/c", request: "MQ==", expirationSeconds: 5, usages: ["any"] } },
  ],
  ["Event", { involvedObject: { kind: "Pod", namespace: "other" } }],
  ["Event", { involvedObject: { kind: "Node", name: "n" } }],
  ["Event", { involvedObject: { kind: "Pod", namespace: NS }, eventTime: "2026-01-01T00:00:00.000000Z" }],
  ["Endpoints", { subsets: [{ addresses: [{ ip: "x" }], ports: [{ port: 0, protocol: "X" }] }] }],
  ["Endpoints", { subsets: [{}] }],
  ["EndpointSlice", { addressType: "X" }],
  ["EndpointSlice", { addressType: "IPv4", endpoints: [{ addresses: [] }], ports: [{ name: "A_b", protocol: "X" }] }],
  ["PersistentVolumeClaim", { spec: {} }],
  ["PersistentVolumeClaim", { spec: { accessModes: ["X"], resources: { requests: { storage: "0" } } } }],
  ["PersistentVolume", { spec: {} }],
  ["PersistentVolume", { spec: { capacity: { storage: -1 } } }],
  ["StorageClass", { provisioner: "" }],
  ["StorageClass", { provisioner: "x", reclaimPolicy: "X", volumeBindingMode: "X" }],
  ["PriorityClass", { value: 2000000000 }],
  ["PriorityClass", { value: 1, preemptionPolicy: "X" }],
  ["RuntimeClass", { handler: "A b" }],
  ["CSINode", { spec: { drivers: [{ name: "", nodeID: "" }] } }],
  ["CSIDriver", { spec: { fsGroupPolicy: "X", volumeLifecycleModes: ["X"] } }],
  ["VolumeAttachment", { spec: {} }],
  ["ControllerRevision", { revision: -1 }],
];

const family: Family = {
  name: NAME,
  steps: [
    ...Object.keys(SAMPLES).map((kind) => {
      const { at } = sampleOf(kind, NS, "x");
      return step(post(at, { metadata: { name: `${NAME}-empty` } }, dry));
    }),
    ...BODIES.map(([kind, body]) => {
      const { at } = sampleOf(kind, NS, "x");
      return step(post(at, { metadata: { name: `${NAME}-bad` }, ...body }, dry));
    }),
  ],
};
export default family;
