import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { Registry } from "prom-client";
import { systemClock } from "../base/clock.ts";
import { type Http, plain } from "../base/http.ts";
import { undiciHttp } from "../base/http-client.ts";
import { serveHttp } from "../base/http-server.ts";
import { jsonLog, Secrets } from "../base/log.ts";
import { cryptoRandom } from "../base/random.ts";
import { createHttpTransport } from "../kube/http-transport.ts";
import { loadConnection } from "../kube/kubeconfig.ts";
import { runtimeMetrics } from "../kube/metrics.ts";
import { installCrds } from "../operator/install-crds.ts";
import { createOperator, SYSTEMS } from "../operator/operator.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../systems/harvester/names.ts";
import type { Verb } from "./main.ts";
import { untilStopped } from "./until-stopped.ts";

/** Where rancherd keeps the join token on a Harvester node; mounted read-only into the operator's Pod. */
const RANCHERD_CONFIG = "/etc/rancher/rancherd/config.yaml";

interface Options {
  kubeconfig?: string;
  context?: string;
  systems: string;
  bootUrl: string;
  bootListen: string;
  healthListen: string;
  installCrds: boolean;
  leaderElection: boolean;
  pollInterval: string;
  qps: string;
  logLevel: "debug" | "info" | "warn" | "error";
}

export const verb: Verb = (program) => {
  program
    .command("operator")
    .description("Run the operator on the cluster of a kubeconfig, or on the one it runs in.")
    .requiredOption("--boot-url <url>", "base URL at which machines reach this operator's boot service")
    .option("--kubeconfig <file>", "kubeconfig; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .option("--systems <names>", `systems to run, of: ${SYSTEMS.join(", ")}`, SYSTEMS.join(","))
    .option("--boot-listen <address:port>", "where the boot service listens", "127.0.0.1:8081")
    .option("--health-listen <address:port>", "where /healthz, /readyz and /metrics listen", "127.0.0.1:8080")
    .option("--no-install-crds", "leave the CRDs as they are")
    .option("--no-leader-election", "run without a Lease: only where there is one replica")
    .option("--poll-interval <seconds>", "between looks at machines on their way", "15")
    .option("--qps <number>", "requests a second to the Kubernetes API", "100")
    .option("--log-level <level>", "debug, info, warn, error", "info")
    .action(run);
};

async function run(options: Options): Promise<void> {
  const clock = systemClock;
  const secrets = new Secrets();
  const log = jsonLog({ level: options.logLevel, secrets });
  const connection = await loadConnection({
    env: process.env,
    clock,
    ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
  const transport = createHttpTransport(connection);
  const registry = new Registry();
  const metrics = runtimeMetrics(registry);
  const clients = new Map<string, ReturnType<typeof undiciHttp>>();
  const http = (ca: string | undefined): Http => {
    const held = clients.get(ca ?? "") ?? undiciHttp(ca === undefined ? {} : { ca });
    clients.set(ca ?? "", held);
    return held;
  };
  const qps = Number(options.qps);
  const { env } = process;
  const operator = createOperator(
    { transport, clock, random: cryptoRandom, log, http, metrics, secrets, readNodeFile: readRancherd },
    {
      namespace: env.NAMESPACE || DEFAULT_NAMESPACE,
      secret: env.EQUINIX_SECRET || DEFAULT_SECRET,
      ...(env.TOKEN && { joinToken: env.TOKEN }),
      endpoints: {
        ...(env.EQUINIX_ENDPOINT && { equinix: env.EQUINIX_ENDPOINT }),
        ...(env.LATITUDE_ENDPOINT && { latitude: env.LATITUDE_ENDPOINT }),
      },
      bootUrl: options.bootUrl,
      pollMs: Number(options.pollInterval) * 1000,
      limits: { qps, burst: 2 * qps },
      systems: options.systems.split(","),
      leaderElection: options.leaderElection && {
        namespace: env.NAMESPACE || DEFAULT_NAMESPACE,
        identity: `${hostname()}_${process.pid}`,
      },
    },
  );
  const { manager } = operator;
  const stopping = new AbortController();
  const health = await serveHttp(async ({ url }) => {
    const path = new URL(url, "http://local.invalid").pathname;
    const state = manager.health();
    if (path === "/metrics") return plain(200, await registry.metrics(), { "content-type": registry.contentType });
    if (path === "/healthz")
      return plain(state.live ? 200 : 500, state.live ? "ok\n" : `${state.problems.join("\n")}\n`);
    if (path === "/readyz")
      return plain(state.ready ? 200 : 500, state.ready ? "ok\n" : `${state.problems.join("\n")}\n`);
    return plain(404, "not found\n");
  }, address(options.healthListen));
  const boot = await serveHttp(operator.boot, address(options.bootListen));
  try {
    if (options.installCrds) await installCrds(operator.client, clock, stopping.signal);
    const stopped = untilStopped();
    await manager.start(stopping.signal);
    log.info({ systems: options.systems, boot: boot.url, health: health.url }, "operator started");
    await stopped;
    log.info({}, "operator stopping");
  } finally {
    stopping.abort();
    await manager.stop();
    await boot.close();
    await health.close();
    await transport.close();
    for (const client of clients.values()) await client.close();
  }
}

async function readRancherd(): Promise<string | undefined> {
  try {
    return await readFile(RANCHERD_CONFIG, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function address(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon) || "127.0.0.1", port: Number(text.slice(colon + 1)) };
}
