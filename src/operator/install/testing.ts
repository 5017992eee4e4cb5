import { DEFAULT_SYSTEMS } from "../defaults.ts";
import type { InstallValues, ValuePath } from "./values.ts";

/** Another value than the default, what must be chosen too for it to matter, and a value that makes no sense. */
export interface Variation {
  value: unknown;
  besides?: Partial<Record<ValuePath, unknown>>;
  nonsense: unknown;
}

const machines = { ports: [{ port: 8443 }] };
const scraper = { podSelector: { matchLabels: { app: "prometheus" } } };

const SHOWN = { "console.enabled": true, "console.url": "https://console.example" };

/** Those of the operator itself; the systems' settings are one value here. */
export type FixedPath = Exclude<ValuePath, `settings.${string}`>;

/** For tests: every value of an installation, varied. The compiler misses the one that is forgotten. */
export const VARIATIONS: Readonly<Record<FixedPath, Variation>> = {
  replicas: { value: 3, nonsense: "two" },
  "image.repository": { value: "mirror.example:5000/slipway", nonsense: "" },
  "image.tag": { value: `9.9.9@sha256:${"a".repeat(64)}`, nonsense: 1 },
  "image.pullPolicy": { value: "Always", nonsense: "Sometimes" },
  "image.pullSecrets": { value: [{ name: "mirror" }], nonsense: ["mirror"] },
  "boot.url": { value: "https://boot.example:8443/a%20b", nonsense: "boot.example" },
  "boot.port": { value: 9081, nonsense: 70_000 },
  "boot.tlsSecret": { value: "boot-certificate", nonsense: true },
  "boot.service.type": { value: "ClusterIP", nonsense: "ExternalName" },
  "boot.service.port": { value: 443, nonsense: 0 },
  "boot.service.nodePort": { value: 30_081, nonsense: -1 },
  "boot.service.externalTrafficPolicy": { value: "Cluster", nonsense: "Global" },
  "boot.service.annotations": {
    value: { "metallb.io/address-pool": "metal", "a/b": "{{ no: template }}" },
    nonsense: ["a"],
  },
  hostNetwork: { value: true, nonsense: "yes" },
  listen: { value: "[::]", nonsense: "" },
  "health.port": { value: 9080, nonsense: "8080" },
  "console.enabled": { value: true, nonsense: "yes" },
  "console.port": { value: 9070, besides: { "console.enabled": true }, nonsense: 0 },
  "console.url": {
    value: "https://console.example",
    besides: { "console.enabled": true },
    nonsense: "console.example",
  },
  "console.tlsSecret": { value: "console-certificate", besides: { "console.enabled": true }, nonsense: 1 },
  "console.oidc.issuer": { value: "https://id.example", besides: SHOWN, nonsense: "http://id.example" },
  "console.oidc.client": {
    value: "racks",
    besides: { ...SHOWN, "console.oidc.issuer": "https://id.example" },
    nonsense: 1,
  },
  "console.oidc.secret": {
    value: "console-client",
    besides: { ...SHOWN, "console.oidc.issuer": "https://id.example" },
    nonsense: false,
  },
  secret: { value: "metal-account", nonsense: "" },
  systems: { value: DEFAULT_SYSTEMS.toReversed().join(","), nonsense: "nonsense" },
  settings: {
    value: { providers: { equinixEndpoint: "https://metal.example/v1", latitudeEndpoint: "" } },
    nonsense: { providers: { equinixEndpoint: "metal.example" } },
  },
  pollSeconds: { value: 2.5, nonsense: 0 },
  shards: { value: 16, nonsense: 0 },
  qps: { value: 50, nonsense: -1 },
  logLevel: { value: "debug", nonsense: "loud" },
  env: { value: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/ca.pem" }], nonsense: { A: "b" } },
  installCrds: { value: true, nonsense: "always" },
  rancherdConfig: { value: true, nonsense: "/etc/rancher" },
  resources: {
    value: { requests: { cpu: 1, memory: "1Gi" }, limits: { memory: "2Gi" } },
    nonsense: { request: { cpu: 1 } },
  },
  "podDisruptionBudget.enabled": { value: false, nonsense: 1 },
  "networkPolicy.enabled": { value: false, nonsense: 0 },
  "networkPolicy.metricsFrom": { value: [scraper], nonsense: "everybody" },
  "networkPolicy.egress": { value: [machines], nonsense: machines },
  "serviceMonitor.enabled": { value: true, nonsense: "true" },
  "serviceMonitor.interval": { value: "1m", besides: { "serviceMonitor.enabled": true }, nonsense: "often" },
  "serviceMonitor.labels": {
    value: { release: "kps" },
    besides: { "serviceMonitor.enabled": true },
    nonsense: { a: 1 },
  },
  "prometheusRule.enabled": { value: true, nonsense: "true" },
  "prometheusRule.labels": {
    value: { release: "kps" },
    besides: { "prometheusRule.enabled": true },
    nonsense: { a: 1 },
  },
  podAnnotations: { value: { "example.com/team": "metal" }, nonsense: { a: true } },
  nodeSelector: { value: { "node-role.kubernetes.io/control-plane": "true" }, nonsense: "control-plane" },
  tolerations: { value: [{ operator: "Exists" }], nonsense: [1] },
  affinity: { value: { nodeAffinity: {} }, nonsense: "node" },
  priorityClassName: { value: "system-cluster-critical", nonsense: 5 },
};

export const PATHS = Object.keys(VARIATIONS) as FixedPath[];

/** The values with others at these places. What they are is not checked. */
export function withValues(values: InstallValues, others: Partial<Record<ValuePath, unknown>>): InstallValues {
  const changed = structuredClone(values);
  for (const [path, other] of Object.entries(others)) {
    const keys = path.split(".");
    const last = keys.pop()!;
    const group = keys.reduce<Record<string, unknown>>(
      (at, key) => at[key] as Record<string, unknown>,
      changed as unknown as Record<string, unknown>,
    );
    group[last] = other;
  }
  return changed;
}
