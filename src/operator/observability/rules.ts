/** What Prometheus makes of the operator's metrics: rates that dashboards share, and alerts. Texts have no templates: labels say what an alert is about, and Helm would take them for its own. */
export interface RecordingRule {
  record: string;
  expr: string;
}

export interface AlertingRule {
  alert: string;
  expr: string;
  /** How long it holds before it alerts. */
  for: string;
  labels: { severity: "warning" | "critical" };
  annotations: { summary: string; description: string };
}

const recordings: readonly RecordingRule[] = [
  { record: "slipway:machines_bought:rate5m", expr: "sum(rate(slipway_machines_bought_total[5m]))" },
  { record: "slipway:machines_replaced:rate1h", expr: "sum(rate(slipway_machines_replaced_total[1h]))" },
  {
    record: "slipway:cloud_calls:rate5m",
    expr: "sum by (provider, operation, code) (rate(slipway_cloud_calls_total[5m]))",
  },
  {
    record: "slipway:cloud_call_failures:ratio5m",
    expr: 'sum by (provider) (rate(slipway_cloud_calls_total{code!="ok"}[5m])) / sum by (provider) (rate(slipway_cloud_calls_total[5m]))',
  },
  {
    record: "slipway:reconcile_errors:rate5m",
    expr: "sum by (controller) (rate(controller_runtime_reconcile_errors_total[5m]))",
  },
  {
    record: "slipway:reconcile_seconds:p99_5m",
    expr: "histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket[5m])))",
  },
  {
    record: "slipway:queue_seconds:p99_5m",
    expr: "histogram_quantile(0.99, sum by (controller, le) (rate(workqueue_queue_duration_seconds_bucket[5m])))",
  },
];

type AlertTexts = Pick<AlertingRule, "alert" | "expr" | "for"> & AlertingRule["annotations"];

const alertOf = (severity: "warning" | "critical", { summary, description, ...rule }: AlertTexts): AlertingRule => ({
  ...rule,
  labels: { severity },
  annotations: { summary, description },
});

const alerts: readonly AlertingRule[] = [
  alertOf("critical", {
    alert: "SlipwayNoLeader",
    expr: 'max by (name) (leader_election_master_status{name=~"slipway-.+"}) == 0',
    for: "5m",
    summary: "Nobody leads a system of Slipway, or holds a shard.",
    description:
      "No replica leads the system of the label name, or holds the shard of that name, so nothing of it is driven. See the operator's log and its Lease of that name.",
  }),
  alertOf("warning", {
    alert: "SlipwaySystemWaits",
    expr: "min by (system) (slipway_system_ready) == 0",
    for: "15m",
    summary: "A system of Slipway waits for a definition.",
    description:
      "The system of the label system needs a kind that the API does not serve. slipway doctor cluster names it, with its repair.",
  }),
  alertOf("warning", {
    alert: "SlipwayCloudRefuses",
    expr: "slipway:cloud_call_failures:ratio5m > 0.5",
    for: "15m",
    summary: "A machine provider refuses more than half of the calls.",
    description:
      "See slipway_cloud_calls_total by code: BadCredentials, Throttled and NoCapacity have different remedies (docs/troubleshooting.md). slipway doctor account asks the provider.",
  }),
  alertOf("critical", {
    alert: "SlipwayBadCredentials",
    expr: 'sum by (provider) (rate(slipway_cloud_calls_total{code="BadCredentials"}[5m])) > 0',
    for: "10m",
    summary: "A machine provider does not take its credentials.",
    description:
      "Nothing is bought and nothing is released there. Put another key into the account's Secret; it is taken up at once.",
  }),
  alertOf("warning", {
    alert: "SlipwayMachinesReplacedOften",
    expr: "sum(increase(slipway_machines_replaced_total[1h])) > 5",
    for: "0m",
    summary: "More than five machines were replaced within an hour.",
    description: "Machines that are lost again and again cost money. See slipway events --type Warning.",
  }),
  alertOf("warning", {
    alert: "SlipwayReconcilesFail",
    expr: "slipway:reconcile_errors:rate5m > 0.1",
    for: "30m",
    summary: "A controller fails again and again.",
    description:
      "The controller of the label controller had more than six errors a minute for half an hour. See its errors in the operator's log.",
  }),
  alertOf("warning", {
    alert: "SlipwayQueueWaits",
    expr: "slipway:queue_seconds:p99_5m > 60",
    for: "15m",
    summary: "Changes wait for more than a minute.",
    description:
      "The queue of the label controller is longer than what is worked off. See slipway top; --qps may be too low.",
  }),
  alertOf("warning", {
    alert: "SlipwayEventsDropped",
    expr: "sum by (controller) (increase(slipway_events_dropped_total[15m])) > 0",
    for: "0m",
    summary: "Events were not written.",
    description: "The API server takes fewer events than are written. Statuses are complete all the same.",
  }),
];

export const RULE_GROUPS = [
  { name: "slipway.rules", rules: recordings },
  { name: "slipway.alerts", rules: alerts },
] as const;
