import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { dump } from "js-yaml";
import { SYSTEMS } from "../systems.ts";
import { dashboard } from "./dashboard.ts";
import { describedMetrics, metricsReference } from "./metrics-reference.ts";
import { RULE_GROUPS } from "./rules.ts";

const METRICS = new Map(describedMetrics().map((metric) => [metric.name, metric]));
const RECORDED = new Set(RULE_GROUPS[0].rules.map(({ record }) => record));

const SERIES = /\b((?:slipway|controller_runtime|workqueue|rest_client|leader_election)[\w:]*)(?:\{([^}]*)\})?/g;

/** Names and labels in an expression that the operator does not have. */
function unknownIn(expr: string): string[] {
  const series = [...expr.matchAll(SERIES)];
  assert.ok(series.length > 0, expr);
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(/,\s*/));
  return series.flatMap(([, name = "", matchers = ""]) => {
    const metric = METRICS.get(name) ?? METRICS.get(name.replace(/_(bucket|sum|count)$/, ""));
    if (metric === undefined) return RECORDED.has(name) ? [] : [name];
    const isKnown = (label: string): boolean => label === "le" || metric.labels.includes(label);
    const matched = [...matchers.matchAll(/(\w+)\s*[!=]/g)].map(([, label = ""]) => label);
    return [
      ...matched.filter((label) => !isKnown(label)).map((label) => `${name}{${label}}`),
      ...grouped.filter((label) => !isKnown(label)).map((label) => `${name} by ${label}`),
    ];
  });
}

const dashboardQueries = (): string[] =>
  (dashboard() as { panels: { targets: { expr: string }[] }[] }).panels.flatMap(({ targets }) =>
    targets.map(({ expr }) => expr),
  );
const expressions = [...RULE_GROUPS.flatMap(({ rules }) => rules.map(({ expr }) => expr)), ...dashboardQueries()];

test("rules and dashboard ask only for metrics and labels that the operator has", () => {
  assert.ok(expressions.length > 20);
  for (const expr of expressions) assert.deepEqual(unknownIn(expr), [], expr);
  assert.deepEqual(unknownIn('sum by (colour) (slipway_cloud_calls_total{shape="x"})'), [
    "slipway_cloud_calls_total{shape}",
    "slipway_cloud_calls_total by colour",
  ]);
  assert.deepEqual(unknownIn("slipway_unicorns"), ["slipway_unicorns"]);
});

test("panels stand in two columns, none over another, each with an id of its own", () => {
  const { panels } = dashboard() as {
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const [at, { gridPos }] of panels.entries())
    assert.deepEqual(gridPos, { x: at % 2 === 0 ? 0 : 12, y: 8 * Math.floor(at / 2), w: 12, h: 8 });
});

test("the reference has every metric of every system, with its type and its labels", () => {
  const text = metricsReference();
  assert.match(
    text,
    /^\| `slipway_cloud_calls_total` \| counter \| `provider`, `operation`, `code` \| Calls to machine providers/m,
  );
  assert.match(text, /^\| `workqueue_depth` \| gauge \| `name`, `controller` \|/m);
  assert.match(text, /^\| `controller_runtime_reconcile_time_seconds` \| histogram \| `controller` \|/m);
  for (const { counts = [], measures = [], tallies = [] } of SYSTEMS)
    for (const { name } of [...counts, ...measures, ...tallies]) assert.ok(text.includes(`| \`${name}\` |`), name);
});

const promtool = (...args: string[]): Promise<{ code: number | string; said: string }> =>
  new Promise((done) => {
    execFile(process.env.PROMTOOL || "promtool", args, (error, out, err) =>
      done({ code: error?.code ?? 0, said: out + err }),
    );
  });

/** The rules in a folder, with what is to be found in them; false where there is no promtool. */
async function checked(t: TestContext): Promise<string | undefined> {
  if ((await promtool("--version")).code !== 0)
    return void t.skip("promtool is not here: apt-get install prometheus, or set PROMTOOL");
  const dir = mkdtempSync(join(tmpdir(), "slipway-rules-"));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "rules.yaml"), dump({ groups: RULE_GROUPS }));
  return dir;
}

test("promtool takes the rules", async (t) => {
  const dir = await checked(t);
  if (dir === undefined) return;
  const { code, said } = await promtool("check", "rules", join(dir, "rules.yaml"));
  assert.equal(code, 0, said);
});

test("promtool parses every query of the dashboard", async (t) => {
  const dir = await checked(t);
  if (dir === undefined) return;
  const ofPanels = (exprs: readonly string[]) =>
    dump({ groups: [{ name: "panels", rules: exprs.map((expr, i) => ({ record: `panel:${i}`, expr })) }] });
  const file = join(dir, "panels.yaml");
  const queries = dashboardQueries();
  assert.ok(queries.length >= 10);
  writeFileSync(file, ofPanels(queries));
  const { code, said } = await promtool("check", "rules", file);
  assert.equal(code, 0, said);
  assert.match(said, new RegExp(`${queries.length} rules found`));
  writeFileSync(file, ofPanels(["sum by (status (slipway_instances)"]));
  assert.notEqual((await promtool("check", "rules", file)).code, 0, "a query that is none is found");
});

test("alerts fire for what they are about, and not for an operator that is well", async (t) => {
  const dir = await checked(t);
  if (dir === undefined) return;
  const series = (name: string, values: string) => ({ series: name, values });
  const fires = (alertname: string, eval_time: string, labels: object, given: object[]) => {
    const rule = RULE_GROUPS[1].rules.find(({ alert }) => alert === alertname)!;
    const exp_alerts = [{ exp_labels: { ...rule.labels, ...labels }, exp_annotations: rule.annotations }];
    return { interval: "1m", input_series: given, alert_rule_test: [{ alertname, eval_time, exp_alerts }] };
  };
  const well = [
    series('leader_election_master_status{name="slipway-netboot",pod="a"}', "1+0x60"),
    series('leader_election_master_status{name="slipway-netboot",pod="b"}', "0+0x60"),
    series('slipway_system_ready{system="netboot"}', "1+0x60"),
    series('slipway_cloud_calls_total{provider="latitude",operation="list",code="ok"}', "0+10x60"),
    series("slipway_machines_replaced_total", "0+0x60"),
    series('controller_runtime_reconcile_errors_total{controller="pools"}', "0+1x60"),
  ];
  const tests = [
    {
      interval: "1m",
      input_series: well,
      alert_rule_test: RULE_GROUPS[1].rules.map(({ alert }) => ({
        alertname: alert,
        eval_time: "60m",
        exp_alerts: [],
      })),
    },
    fires("SlipwayNoLeader", "10m", { name: "slipway-netboot" }, [
      series('leader_election_master_status{name="slipway-netboot",pod="a"}', "0+0x20"),
    ]),
    fires("SlipwaySystemWaits", "20m", { system: "packet" }, [
      series('slipway_system_ready{system="packet"}', "0+0x30"),
    ]),
    fires("SlipwayBadCredentials", "20m", { provider: "latitude" }, [
      series('slipway_cloud_calls_total{provider="latitude",operation="list",code="BadCredentials"}', "0+1x30"),
    ]),
    fires("SlipwayCloudRefuses", "25m", { provider: "latitude" }, [
      series('slipway_cloud_calls_total{provider="latitude",operation="create",code="NoCapacity"}', "0+3x30"),
      series('slipway_cloud_calls_total{provider="latitude",operation="list",code="ok"}', "0+1x30"),
    ]),
    fires("SlipwayMachinesReplacedOften", "60m", {}, [series("slipway_machines_replaced_total", "0+1x60")]),
    fires("SlipwayReconcilesFail", "50m", { controller: "pools" }, [
      series('controller_runtime_reconcile_errors_total{controller="pools"}', "0+10x60"),
    ]),
  ];
  writeFileSync(
    join(dir, "tests.yaml"),
    dump({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }, { noRefs: true }),
  );
  const { code, said } = await promtool("test", "rules", join(dir, "tests.yaml"));
  assert.equal(code, 0, said);
});
