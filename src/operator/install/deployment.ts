import type { System } from "../../systems/system.ts";
import { WEBHOOK_PORT } from "../conversion-server.ts";
import { SERVICE_ACCOUNT } from "../rbac.ts";
import type { Setting } from "../settings.ts";
import { LABELS, named } from "./naming.ts";
import { allOf, given, type Tree, text, textOf, value, when } from "./tree.ts";
import { installSettings, placeOf } from "./values.ts";

/** The image's user without rights (`tools/image`). */
const NOBODY = 65_532;
const TLS_FOLDER = "/etc/slipway/boot-tls";
const CONSOLE_TLS_FOLDER = "/etc/slipway/console-tls";
const RANCHERD_FOLDER = "/etc/rancher/rancherd";
/** The manager waits half a minute for its reconciles, then writes its events and gives its leases back. */
const STOP_SECONDS = 45;

/** What is mounted, where it is chosen. */
const MOUNTED = ["boot.tlsSecret", "console.tlsSecret", "rancherdConfig"] as const;

/** The operator's Pods: no root, nothing writable, no capability, as Pod Security's level `restricted` wants it. `converts`: with the conversion webhook's port. */
export function deployment(converts: boolean, systems: readonly System[]): Tree {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: named(SERVICE_ACCOUNT),
    spec: {
      replicas: value("replicas"),
      // On the nodes' own ports a third Pod may find no place.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      selector: { matchLabels: LABELS },
      template: { metadata: { labels: LABELS, annotations: given("podAnnotations") }, spec: pod(converts, systems) },
    },
  };
}

function pod(converts: boolean, systems: readonly System[]): Tree {
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
    containers: [container(converts, systems)],
    volumes: when({ given: MOUNTED }, [
      when("boot.tlsSecret", { name: "boot-tls", secret: { secretName: value("boot.tlsSecret"), defaultMode: 0o440 } }),
      when("console.tlsSecret", {
        name: "console-tls",
        secret: { secretName: value("console.tlsSecret"), defaultMode: 0o440 },
      }),
      when("rancherdConfig", { name: "rancherd", hostPath: { path: RANCHERD_FOLDER, type: "Directory" } }),
    ]),
  };
}

function container(converts: boolean, systems: readonly System[]): Tree {
  const settings = installSettings(systems);
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
      ...consoleArguments(),
      text`--systems=${"systems"}`,
      text`--shards=${"shards"}`,
      text`--poll-interval=${"pollSeconds"}`,
      text`--qps=${"qps"}`,
      text`--log-level=${"logLevel"}`,
      when({ missing: "installCrds" }, "--no-install-crds"),
      ...settings.flatMap(argument),
    ],
    env: [
      { name: "NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      { name: "EQUINIX_SECRET", value: value("secret") },
      when(
        { missing: "boot.url" },
        { name: "BOOT_URL", valueFrom: { configMapKeyRef: { name: SERVICE_ACCOUNT, key: "bootUrl" } } },
      ),
      when("console.oidc.secret", {
        name: "CONSOLE_OIDC_CLIENT_SECRET",
        valueFrom: { secretKeyRef: { name: value("console.oidc.secret"), key: "clientSecret" } },
      }),
      ...settings.flatMap(variable),
      allOf("env"),
    ],
    ports: [
      { name: "boot", containerPort: value("boot.port") },
      { name: "health", containerPort: value("health.port") },
      when("console.enabled", { name: "console", containerPort: value("console.port") }),
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
    volumeMounts: when({ given: MOUNTED }, [
      when("boot.tlsSecret", { name: "boot-tls", mountPath: TLS_FOLDER, readOnly: true }),
      when("console.tlsSecret", { name: "console-tls", mountPath: CONSOLE_TLS_FOLDER, readOnly: true }),
      when("rancherdConfig", { name: "rancherd", mountPath: RANCHERD_FOLDER, readOnly: true }),
    ]),
  };
}

/** Where the console listens, and how browsers reach it and sign in. Without a port the rest means nothing. */
function consoleArguments(): Tree[] {
  return [
    when("console.enabled", text`--console-port=${"console.port"}`),
    when("console.url", text`--console-url=${"console.url"}`),
    when("console.tlsSecret", `--console-cert=${CONSOLE_TLS_FOLDER}/tls.crt`),
    when("console.tlsSecret", `--console-key=${CONSOLE_TLS_FOLDER}/tls.key`),
    when("console.oidc.issuer", text`--console-oidc-issuer=${"console.oidc.issuer"}`),
    when("console.oidc.client", text`--console-oidc-client=${"console.oidc.client"}`),
  ];
}

/** The option that gives a setting, where it is chosen. */
function argument(setting: Setting): Tree[] {
  if (setting.flag === undefined) return [];
  const [option] = setting.flag.split(" ");
  const at = placeOf(setting);
  return [when(at, setting.type === "boolean" ? option! : textOf([`${option}=`, { from: at }]))];
}

/** The variable that gives a setting which has no option. */
function variable(setting: Setting): Tree[] {
  if (setting.flag !== undefined || setting.env === undefined) return [];
  const at = placeOf(setting);
  return [when(at, { name: setting.env, value: textOf([{ from: at }]) })];
}
