/**
 * What an installation may choose. From this one declaration come the chart's values, their schema, and what
 * `deploy/slipway.yaml` is made with: the defaults.
 */

import { VERSION } from "@slipway/base";
import { MOST_SHARDS } from "@slipway/kube";
import { z } from "zod";
import { CONSOLE_PORT } from "../../console/server/port.ts";
import type { System } from "../../systems/system.ts";
import { DEFAULT_SECRET, DEFAULT_SYSTEMS } from "../defaults.ts";
import { systemsOf } from "../operator.ts";
import { givenSettings, type Setting, sentence } from "../settings.ts";

const port = z.int().min(1).max(65_535);
const words = z.record(z.string(), z.string());
/** Kubernetes' own shapes, which its API checks. */
const anyMap = z.record(z.string(), z.unknown());
const anyMaps = z.array(anyMap);
const quantity = z.union([z.string(), z.number()]);
const amounts = z.record(z.string(), quantity);

/** The settings of systems that an installation gives: all that a variable or an option gives, secrets and folders excepted. */
export function installSettings(systems: readonly System[] = systemsOf()): Setting[] {
  return givenSettings(systems).filter(({ isSecret, stateFolder }) => !isSecret && stateFolder === undefined);
}

/** The chart's value of a setting. */
export const placeOf = ({ system, name }: Setting) => `settings.${system}.${name}` as const;

/** Of each system, a group of its settings. What has no default is empty unless it is chosen. */
function settingsGroups(systems: readonly System[]) {
  const groups: Record<string, Record<string, z.ZodType>> = {};
  for (const { system, name, schema, about, default: usual } of installSettings(systems)) {
    const chosen = usual === undefined ? z.union([z.literal(""), schema]).default("") : schema;
    groups[system] = { ...groups[system], [name]: chosen.describe(sentence(about)) };
  }
  const shape = Object.entries(groups).map(([system, group]) => [system, z.strictObject(group).prefault({})] as const);
  const settings = z.strictObject(Object.fromEntries(shape)).prefault({});
  return settings as unknown as z.ZodPrefault<z.ZodObject<Record<string, z.ZodType<Record<string, unknown>>>>>;
}

const IMAGE = z
  .strictObject({
    repository: z.string().min(1).default("registry.slipway.dev/slipway"),
    tag: z.string().min(1).default(VERSION).describe("A digest may follow: 1.2.3@sha256:…"),
    pullPolicy: z.enum(["IfNotPresent", "Always", "Never"]).default("IfNotPresent"),
    pullSecrets: z.array(z.strictObject({ name: z.string().min(1) })).default([]),
  })
  .prefault({});

const BOOT = z
  .strictObject({
    url: z
      .string()
      .regex(/^(https?:\/\/[^?#]+)?$/)
      .default("")
      .describe(
        "Base URL at which machines reach the boot service. Empty: key bootUrl of a ConfigMap slipway that you make; the Pods wait for it.",
      ),
    port: port.default(8081).describe("Where the boot service listens in the Pod."),
    tlsSecret: z
      .string()
      .default("")
      .describe(
        "Secret (kubernetes.io/tls) with its certificate and key. Empty: HTTP, for behind a proxy that speaks TLS.",
      ),
    service: z
      .strictObject({
        type: z.enum(["LoadBalancer", "NodePort", "ClusterIP"]).default("LoadBalancer"),
        port: port.default(8081),
        nodePort: z.int().min(0).max(65_535).default(0).describe("0: Kubernetes chooses."),
        externalTrafficPolicy: z
          .enum(["Local", "Cluster"])
          .default("Local")
          .describe("Local keeps the machines' addresses, by which wrong guesses are slowed down."),
        annotations: words.default({}),
      })
      .prefault({}),
  })
  .prefault({});

const NETWORK_POLICY = z
  .strictObject({
    enabled: z.boolean().default(true),
    metricsFrom: anyMaps
      .default([{ namespaceSelector: {} }])
      .describe("Who may read metrics (NetworkPolicyPeer). Empty: everybody."),
    egress: anyMaps
      .default([])
      .describe("More that the operator may reach (NetworkPolicyEgressRule) than DNS and the TCP ports 443 and 6443."),
  })
  .prefault({});

const SERVICE_MONITOR = z
  .strictObject({
    enabled: z.boolean().default(false).describe("For Prometheus' operator; its CRDs must be there."),
    interval: z
      .string()
      .regex(/^\d+(ms|s|m)$/)
      .default("30s"),
    labels: words.default({}),
  })
  .prefault({});

const PROMETHEUS_RULE = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("Alerts and recording rules for Prometheus' operator; its CRDs must be there."),
    labels: words.default({}),
  })
  .prefault({});

const CONSOLE = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("The web console (docs/console.md), at Service slipway-console. It has no rights of its own."),
    port: port.default(CONSOLE_PORT).describe("Where it listens in the Pod, and port of its Service."),
    url: z
      .string()
      .regex(/^(https?:\/\/[^?#/]+)?$/)
      .default("")
      .describe("Base URL at which browsers reach it, such as https://console.example. Empty: by a port-forward."),
    tlsSecret: z
      .string()
      .default("")
      .describe(
        "Secret (kubernetes.io/tls) with its certificate and key. Empty: HTTP, for behind a proxy that speaks TLS.",
      ),
    oidc: z
      .strictObject({
        issuer: z
          .string()
          .regex(/^(https:\/\/[^?#]+)?$/)
          .default("")
          .describe(
            "Issuer of the ID tokens that the Kubernetes API takes. Empty: sign-in by token and kubeconfig alone.",
          ),
        client: z.string().default("").describe("The console's client id there; the API must take tokens for it."),
        secret: z.string().default("").describe("Secret with the client's clientSecret. Empty: a public client."),
      })
      .prefault({}),
  })
  .prefault({});

/** What an installation of these systems may choose. */
export const installValues = (systems: readonly System[]) =>
  z.strictObject({
    replicas: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .describe("How many run. One leads each system, unless there are shards; all of them answer machines."),
    shards: z
      .int()
      .min(1)
      .max(MOST_SHARDS)
      .default(1)
      .describe(
        "Parts over which the systems' work is shared out among replicas; some times as many as replicas. 1: one replica leads each system.",
      ),
    image: IMAGE,
    boot: BOOT,
    hostNetwork: z
      .boolean()
      .default(false)
      .describe("Listen on the nodes' own addresses. The ports must be free there, and NetworkPolicies do not apply."),
    listen: z
      .string()
      .min(1)
      .default("0.0.0.0")
      .describe('Address on which the boot service, probes and metrics listen; "[::]" where Pods have IPv6 only.'),
    health: z.strictObject({ port: port.default(8080).describe("Probes and metrics.") }).prefault({}),
    console: CONSOLE,
    secret: z
      .string()
      .min(1)
      .default(DEFAULT_SECRET)
      .describe("Secret of the account that serves objects without a providerRef."),
    settings: settingsGroups(systems).describe(
      "What may be set of each system (docs/settings.md). Empty: its default.",
    ),
    systems: z
      .string()
      .regex(new RegExp(`^(${DEFAULT_SYSTEMS.join("|")})(,(${DEFAULT_SYSTEMS.join("|")}))*$`))
      .default(DEFAULT_SYSTEMS.join(","))
      .describe("Which systems run, with commas between them."),
    pollSeconds: z.number().positive().max(3600).default(15).describe("Between looks at machines on their way."),
    qps: z.number().positive().max(10_000).default(300).describe("Requests a second to the Kubernetes API."),
    logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
    env: anyMaps.default([]).describe("More environment variables (EnvVar): NODE_EXTRA_CA_CERTS, HTTPS_PROXY, …"),
    installCrds: z
      .boolean()
      .default(false)
      .describe("The operator installs and updates its CRDs itself, and has the right to."),
    rancherdConfig: z
      .boolean()
      .default(false)
      .describe(
        "Read the join token from the node's own rancherd configuration, as root. Better: key JOIN_TOKEN of the Secret.",
      ),
    resources: z
      .strictObject({ requests: amounts.optional(), limits: amounts.optional() })
      // bench/README.md: 0.02 of a core and 307 MiB with 1000 idle machines, 646 MiB at the peak of ordering 5000.
      .default({ requests: { cpu: "50m", memory: "320Mi" }, limits: { memory: "768Mi" } })
      .describe(
        "Measured: 1000 machines at rest take 0.02 of a core and 307 MiB, ordering 5000 at once takes 646 MiB.",
      ),
    podDisruptionBudget: z.strictObject({ enabled: z.boolean().default(true) }).prefault({}),
    networkPolicy: NETWORK_POLICY,
    serviceMonitor: SERVICE_MONITOR,
    prometheusRule: PROMETHEUS_RULE,
    podAnnotations: words.default({}),
    nodeSelector: words.default({}),
    tolerations: anyMaps.default([]),
    affinity: anyMap.default({}),
    priorityClassName: z.string().default(""),
  });

export const InstallValues = installValues(systemsOf());
export type InstallValues = z.output<typeof InstallValues>;

export const DEFAULT_VALUES: InstallValues = InstallValues.parse({});

/** A value by its place, `boot.service.port`; a group of values is no value, a mapping that may be empty is one. */
export type ValuePath = PathOf<InstallValues> | `settings.${string}`;

type PathOf<T> = {
  [Key in keyof T & string]: T[Key] extends object
    ? T[Key] extends readonly unknown[]
      ? Key
      : Record<never, never> extends T[Key]
        ? Key
        : `${Key}.${PathOf<T[Key]>}`
    : Key;
}[keyof T & string];
