/** A dashboard for Grafana: what there is, what is bought, what providers answer, how far the controllers are. */
interface Query {
  expr: string;
  legend: string;
}

interface Panel {
  title: string;
  unit: string;
  queries: readonly Query[];
  kind?: "stat" | "timeseries";
}

const panels: readonly Panel[] = [
  {
    title: "Instances by status",
    unit: "short",
    queries: [{ expr: "sum by (status) (slipway_instances)", legend: "{{status}}" }],
  },
  {
    title: "Tenants by state",
    unit: "short",
    queries: [{ expr: "sum by (state) (slipway_tenants)", legend: "{{state}}" }],
  },
  {
    ...{ title: "Machines a minute", unit: "short" },
    queries: (["bought", "released", "replaced"] as const).map((what) => ({
      expr: `60 * sum(rate(slipway_machines_${what}_total[5m]))`,
      legend: what,
    })),
  },
  {
    title: "Calls to providers",
    unit: "reqps",
    queries: [
      {
        expr: "sum by (provider, operation, code) (rate(slipway_cloud_calls_total[5m]))",
        legend: "{{provider}} {{operation}} {{code}}",
      },
    ],
  },
  {
    title: "Systems that are led",
    unit: "short",
    kind: "stat",
    queries: [{ expr: "max by (name) (leader_election_master_status)", legend: "{{name}}" }],
  },
  {
    title: "Systems that wait",
    unit: "short",
    kind: "stat",
    queries: [{ expr: "max by (system, kind) (slipway_system_waiting)", legend: "{{system}} {{kind}}" }],
  },
  {
    title: "Queues",
    unit: "short",
    queries: [{ expr: "sum by (controller) (workqueue_depth)", legend: "{{controller}}" }],
  },
  {
    title: "Time in a queue, 99 %",
    unit: "s",
    queries: [
      {
        expr: "histogram_quantile(0.99, sum by (controller, le) (rate(workqueue_queue_duration_seconds_bucket[5m])))",
        legend: "{{controller}}",
      },
    ],
  },
  {
    title: "Reconciles",
    unit: "ops",
    queries: [
      {
        expr: "sum by (controller, result) (rate(controller_runtime_reconcile_total[5m]))",
        legend: "{{controller}} {{result}}",
      },
    ],
  },
  {
    title: "Requests to the Kubernetes API",
    unit: "reqps",
    queries: [{ expr: "sum by (method, code) (rate(rest_client_requests_total[5m]))", legend: "{{method}} {{code}}" }],
  },
];

const [WIDTH, HEIGHT] = [12, 8];
const SOURCE = { type: "prometheus", uid: "${datasource}" };

/** Grafana's JSON; it asks for the data source. */
export function dashboard(): object {
  return {
    title: "Slipway",
    uid: "slipway",
    tags: ["slipway"],
    schemaVersion: 39,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source" }] },
    panels: panels.map(({ title, unit, queries, kind = "timeseries" }, at) => ({
      id: at + 1,
      type: kind,
      title,
      datasource: SOURCE,
      gridPos: { x: (at % 2) * WIDTH, y: Math.floor(at / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(({ expr, legend }, i) => ({
        refId: String.fromCharCode("A".charCodeAt(0) + i),
        ...{ datasource: SOURCE, expr, legendFormat: legend },
      })),
    })),
  };
}
