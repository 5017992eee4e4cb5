import { systemClock as clock, Fault, rfc3339 } from "@slipway/base";
import { Pod } from "@slipway/kube/core";
import { Option } from "commander";
import { HttpClients } from "../machines/http-clients.ts";
import { DEFAULT_NAMESPACE } from "../operator/defaults.ts";
import { type Load, loadOf } from "../views/load.ts";
import { type Samples, samplesIn } from "../views/samples.ts";
import { addClusterOptions } from "./listing/options.ts";
import { documentOf } from "./listing/print.ts";
import { Screen } from "./listing/screen.ts";
import { type ClusterOptions, onCluster, type Reached } from "./on-cluster.ts";
import { httpUrl, positiveNumber } from "./option-values.ts";
import { say, secrets } from "./outgoing.ts";
import { loadLines } from "./status/load-lines.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

interface TopOptions extends ClusterOptions {
  operatorNamespace: string;
  metricsUrl?: string;
  interval: number;
  watch?: boolean;
  output?: "json" | "yaml";
}

/** `slipway top`: what the operator does, from its metrics. */
export const verb: Verb = (program) => {
  addClusterOptions(
    program
      .command("top")
      .description("Show what the operator does: machines a minute, calls to providers, queues of its controllers."),
  )
    .option("--operator-namespace <namespace>", "where the operator's Pods are", DEFAULT_NAMESPACE)
    .option("--metrics-url <url>", "of an operator outside the cluster, such as http://127.0.0.1:8080/metrics", httpUrl)
    .option("--interval <seconds>", "between the two looks from which rates are counted", positiveNumber, 5)
    .option("-w, --watch", "go on, until q or Ctrl-C")
    .addOption(new Option("-o, --output <format>", "unset: one screen").choices(["json", "yaml"]))
    .addHelpText(
      "after",
      `
The operator's Pods are asked through the API server, which takes the right to get pods/proxy.

Examples:
  slipway top
  slipway top --watch
  slipway top --metrics-url http://127.0.0.1:8080/metrics -o json`,
    )
    .action(async (options: TopOptions) => {
      const { metricsUrl } = options;
      if (metricsUrl === undefined)
        return await onCluster(options, (cluster) => run(() => ofPods(cluster, options), options));
      const clients = new HttpClients();
      try {
        await run(() => ofUrl(clients, metricsUrl), options);
      } finally {
        await clients.close();
      }
    });
};

async function run(scrape: () => Promise<Samples>, options: TopOptions): Promise<void> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  void untilStopped().then(stop);
  const isScreen = options.watch === true && process.stdout.isTTY && options.output === undefined;
  let before = { at: clock.monotonic(), samples: await scrape() };
  const screen = isScreen ? new Screen(process.stdout, process.stdin, stop) : undefined;
  try {
    do {
      if (screen !== undefined) screen.draw(loadLines(loadOf(before.samples)), "counting …   q: quit");
      await clock.sleep(options.interval * 1000, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      const now = { at: clock.monotonic(), samples: await scrape() };
      const load = secrets.clean(loadOf(now.samples, before.samples, (now.at - before.at) / 1000));
      before = now;
      if (screen !== undefined) screen.draw(loadLines(load), `${rfc3339(clock.now())}   q: quit`);
      else print(load, options);
    } while (options.watch);
  } finally {
    screen?.close();
  }
}

function print(load: Load, { output }: TopOptions): void {
  if (output !== undefined) console.log(documentOf(load, output));
  else for (const line of loadLines(load)) say(line);
}

async function ofPods({ client, transport }: Reached, { operatorNamespace: namespace }: TopOptions): Promise<Samples> {
  const { items } = await client.list(Pod, { namespace, labelSelector: "app.kubernetes.io/name=slipway" });
  const running = items.filter(({ status }) => status?.phase === "Running");
  if (running.length === 0)
    throw new Fault("MissingInput", namespace, "no Pod of an operator runs there", {
      remedy: "name its namespace with --operator-namespace, or where its metrics are with --metrics-url",
    });
  const texts = await Promise.all(
    running.map(async ({ metadata: { name }, spec }) => {
      const path = `/api/v1/namespaces/${namespace}/pods/${name}:${healthPort(spec?.containers)}/proxy/metrics`;
      const { status, body } = await transport.request({ method: "GET", path, accept: "text/plain" });
      if (status === 200 && typeof body === "string") return body;
      throw new Fault(
        status === 403 ? "Forbidden" : "Unavailable",
        `Pod/${namespace}/${name}`,
        `its metrics were answered with ${status}`,
        {
          remedy: "you need the right to get pods/proxy, and the API server a way to the Pod's port `health`",
        },
      );
    }),
  );
  return samplesIn(...texts);
}

/** The container's port of this name has the metrics. */
function healthPort(containers: readonly Record<string, unknown>[] = []): number {
  const ports = containers.flatMap(({ ports: own = [] }) => own as { name?: string; containerPort: number }[]);
  return ports.find(({ name }) => name === "health")?.containerPort ?? 8080;
}

async function ofUrl(clients: HttpClients, url: string): Promise<Samples> {
  const { status, body } = await clients.of(undefined)({ method: "GET", url });
  if (status === 200) return samplesIn(body);
  throw new Fault("Unavailable", url, `it was answered with ${status}`, { remedy: "name the operator's /metrics" });
}
