import { runtimeMetrics } from "@slipway/kube";
import { Registry } from "@slipway/kube/prometheus";
import type { System } from "../../systems/system.ts";
import { operatorMetrics } from "../metrics.ts";
import { SYSTEMS } from "../systems.ts";

/** One metric that the operator serves. */
export interface DescribedMetric {
  name: string;
  type: "counter" | "gauge" | "histogram";
  help: string;
  labels: readonly string[];
}

/** Every metric of an operator that runs these systems, by name. */
export function describedMetrics(systems: readonly System[] = SYSTEMS): DescribedMetric[] {
  const registry = new Registry();
  runtimeMetrics(registry);
  operatorMetrics(registry, systems);
  // The registry keeps a metric's labels where its types do not say so.
  const known = registry.getMetricsAsArray() as unknown as { name: string; help: string; labelNames?: string[] }[];
  return known
    .map((metric) => ({
      name: metric.name,
      type: metric.constructor.name.toLowerCase() as DescribedMetric["type"],
      help: metric.help,
      labels: metric.labelNames ?? [],
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `docs/metrics.md`. */
export function metricsReference(systems: readonly System[] = SYSTEMS): string {
  const rows = describedMetrics(systems).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  return `${HEADER}${rows.join("\n")}\n`;
}

const HEADER = `# Metrics

What \`/metrics\` of the operator serves, on the address of \`--health-listen\` (8080). A system's own metrics are there where it runs. Names that start with \`controller_runtime_\`, \`workqueue_\`, \`rest_client_\` and
\`leader_election_\` are those of controller-runtime and client-go, so dashboards for these work.

\`deploy/monitoring/rules.yaml\` has alerts and recording rules for Prometheus, \`deploy/monitoring/dashboard.json\` a dashboard for Grafana ([install.md](install.md#health-and-metrics)).
Single machines' lives go to a collector as traces: [traces.md](traces.md).

| Metric | Type | Labels | Meaning |
| --- | --- | --- | --- |
`;
