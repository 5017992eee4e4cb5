/**
 * `make test-conformance`: Kubernetes' own conformance specs of the API, on kube-apiserver with kube-controller-manager and on the embedded
 * API. Prints one line a spec; ends with 1 when one passes on the first alone and the ledger does not say why. Argument: a pattern of names.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@slipway/base";
import { BINARIES } from "../assets/binaries.ts";
import { provide } from "../assets/provide.ts";
import { type Server, startEmbedded, startReal } from "./servers.ts";
import { listSpecs, type Result, runSpec } from "./suite.ts";
import { complaint, reasonOf, remark, strangers, tableOf } from "./table.ts";

const NAMES = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "e2e.test"];
const TIMEOUT_MS = 120_000;
const LOGS = ".slipway/conformance";

/** Specs that end on neither server: they wait for Pods to run, which nothing does here, or for more than their time. */
const LEFT_OUT = [
  "] AdmissionWebhook ",
  "] Aggregator ",
  "] CustomResourceConversionWebhook ",
  "] CustomResourceFieldSelectors ",
  "Namespaces [Serial] should ensure that all pods are removed when a namespace is deleted",
  "OrderedNamespaceDeletion ",
  "ResourceQuota should apply changes to a resourcequota status",
];

const say = (line: string): void => console.error(`conformance: ${line}`);

const assets = await provide({
  binaries: BINARIES,
  names: NAMES,
  sources: join(import.meta.dirname, "../assets"),
  env: process.env,
  clock: systemClock,
  say,
});
const pattern = new RegExp(process.argv[2] ?? "");
const all = (await listSpecs(assets)).filter((name) => !LEFT_OUT.some((part) => name.includes(part)));
const specs = all.filter((name) => pattern.test(name));
rmSync(LOGS, { recursive: true, force: true });

const [real, embedded] = await Promise.all([runAll(startReal), runAll(startEmbedded)]);
const rows = specs.map((spec) => ({ spec, real: real.get(spec)!, embedded: embedded.get(spec)! }));
console.log(tableOf(rows));

const wrong = rows.flatMap((row) => {
  const what = complaint(row);
  return what === undefined ? [] : [`${row.spec}\n    ${what}`];
});
for (const row of rows) {
  const what = remark(row);
  if (what !== undefined) console.log(`${row.spec}\n    ${what}`);
}
for (const name of strangers(all)) wrong.push(`${name}\n    stands in the ledger and is no spec`);
if (wrong.length > 0) {
  console.error(`\n${wrong.join("\n")}\nwhat the suite said: ${LOGS}/`);
  process.exitCode = 1;
}

/**
 * Runs the specs one after another, since some change what the others would see. The two servers do so side by side. The specs wait for a
 * few seconds only, which a busy machine exceeds: what did not pass and may is run once more at the end.
 */
async function runAll(start: (assets: string) => Promise<Server>): Promise<Map<string, Result>> {
  const server = await start(assets);
  const results = new Map<string, Result>();
  const logs = join(LOGS, server.name);
  mkdirSync(logs, { recursive: true });
  const { kubeconfigFile } = server;
  try {
    const run = async (name: string, log: string): Promise<void> => {
      const logFile = join(logs, `${name.replace(/[^A-Za-z0-9]+/g, "-")}${log}.log`);
      const result = await runSpec(name, { assets, kubeconfigFile, logFile, timeoutMs: TIMEOUT_MS });
      results.set(name, result);
      const count = `[${results.size}/${specs.length}]`;
      say(`${server.name} ${count} ${result.outcome} in ${result.seconds.toFixed(1)} s: ${name}`);
    };
    for (const name of specs) await run(name, "");
    const mayPass = (name: string): boolean => server.name === "kube-apiserver" || reasonOf(name) === undefined;
    for (const name of specs) if (results.get(name)!.outcome !== "passed" && mayPass(name)) await run(name, "-again");
  } finally {
    await server.close();
  }
  return results;
}
