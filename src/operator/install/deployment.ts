import { WEBHOOK_PORT } from "../conversion-server.ts";
import { SERVICE_ACCOUNT } from "../rbac.ts";
import { LABELS, named } from "./naming.ts";
import { allOf, given, type Tree, text, value, when } from "./tree.ts";

/** The image's user without rights (`tools/image`). */
const NOBODY = 65_532;
const TLS_FOLDER = "/etc/slipway/boot-tls";
const RANCHERD_FOLDER = "/etc/rancher/rancherd";
/** The manager waits half a minute for its reconciles, then writes its events and gives its leases back. */
const STOP_SECONDS = 45;

/** The operator's Pods: no root, nothing writable, no capability, as Pod Security's level `restricted` wants it. `converts`: with the conversion webhook's port. */
export function deployment(converts: boolean): Tree {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: named(SERVICE_ACCOUNT),
    spec: {
      replicas: value("replicas"),
      // On the nodes' own ports a third Pod may find no place.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS, annotations: given("podAnnotations") }, spec: pod(converts) },
    },
  };
}

function pod(converts: boolean): Tree {
  return {
    serviceAccountName: SERVICE_ACCOUNT,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: STOP_SECONDS,
    priorityClassName: given("priorityClassName"),
    imagePullSecrets: given("image.pullSecrets"),
    hostNetwork: given("hostNetwork"),
    dnsPolicy: when("hostNetwork", "ClusterFirstWithHostNet", "ClusterFirst"),
    securityContext: {
      runAsNonRoot: when("rancherdConfig", false, true),
      runAsUser: when("rancherdConfig", 0, NOBODY),
      runAsGroup: when("rancherdConfig", 0, NOBODY),
      fsGroup: NOBODY,
      seccompProfile: { type: "RuntimeDefault" },
    },
    nodeSelector: given("nodeSelector"),
    tolerations: given("tolerations"),
    affinity: given("affinity"),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: LABELS },
      },
    ],
    containers: [container(converts)],
    volumes: when({ given: ["boot.tlsSecret", "rancherdConfig"] }, [
      when("boot.tlsSecret", { name: "boot-tls", secret: { secretName: value("boot.tlsSecret"), defaultMode: 0o440 } }),
      when("rancherdConfig", { name: "rancherd", hostPath: { path: RANCHERD_FOLDER, type: "Directory" } }),
    ]),
  };
}

function container(converts: boolean): Tree {
  return {
    name: "operator",
    image: text`${"image.repository"}:${"image.tag"}`,
    imagePullPolicy: value("image.pullPolicy"),
    args: [
      "operator",
      when("boot.url", text`--boot-url=${"boot.url"}`, "--boot-url=$(BOOT_URL)"),
      text`--boot-listen=${"listen"}:${"boot.port"}`,
      when("boot.tlsSecret", `--boot-cert=${TLS_FOLDER}/tls.crt`),
      when("boot.tlsSecret", `--boot-key=${TLS_FOLDER}/tls.key`),
      text`--health-listen=${"listen"}:${"health.port"}`,
      text`--systems=${"systems"}`,
      text`--poll-interval=${"pollSeconds"}`,
      text`--qps=${"qps"}`,
      text`--log-level=${"logLevel"}`,
      when({ missing: "installCrds" }, "--no-install-crds"),
    ],
    env: [
      { name: "NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      { name: "EQUINIX_SECRET", value: value("secret") },
      when(
        { missing: "boot.url" },
        { name: "BOOT_URL", valueFrom: { configMapKeyRef: { name: SERVICE_ACCOUNT, key: "bootUrl" } } },
      ),
      allOf("env"),
    ],
    ports: [
      { name: "boot", containerPort: value("boot.port") },
      { name: "health", containerPort: value("health.port") },
      ...(converts ? [{ name: "webhook", containerPort: WEBHOOK_PORT }] : []),
    ],
    livenessProbe: { httpGet: { path: "/healthz", port: "health" }, periodSeconds: 10 },
    readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 5 },
    resources: value("resources"),
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: when({ given: ["boot.tlsSecret", "rancherdConfig"] }, [
      when("boot.tlsSecret", { name: "boot-tls", mountPath: TLS_FOLDER, readOnly: true }),
      when("rancherdConfig", { name: "rancherd", mountPath: RANCHERD_FOLDER, readOnly: true }),
    ]),
  };
}
