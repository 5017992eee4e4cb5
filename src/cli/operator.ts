import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { closeAll, cryptoRandom, Fault, type HttpHandler, plain, systemClock, uuid } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { type LeaderElection, type Manager, runtimeMetrics } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { Registry } from "@slipway/kube/prometheus";
import { Option } from "commander";
import { BOOT_LIMITS } from "../bootstrap/boot-service.ts";
import type { AccountPorts } from "../machines/accounts.ts";
import { HttpClients } from "../machines/http-clients.ts";
import { serveConversion, WEBHOOK_PORT, WEBHOOK_SERVICE } from "../operator/conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET, DEFAULT_SYSTEMS } from "../operator/defaults.ts";
import { installKinds } from "../operator/install-kinds.ts";
import { convertedKinds, KINDS } from "../operator/kinds.ts";
import { operatorMetrics } from "../operator/metrics.ts";
import { createOperator, systemsToRun } from "../operator/operator.ts";
import { loadedSettings } from "../operator/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { type TraceSettings, traceSettings } from "../operator/tracing/settings.ts";
import type { TracerPorts } from "../operator/tracing/tracer.ts";
import { commandLog, type LogOptions, logFormat, logLevel } from "./command-log.ts";
import { addConsoleOptions, type ConsoleOptions, operatorConsole } from "./console-options.ts";
import { healthPage } from "./health-pages.ts";
import {
  httpsUrl,
  httpUrl,
  type ListenAddress,
  listenAddress,
  namesOf,
  portNumber,
  positiveNumber,
  shardNumber,
} from "./option-values.ts";
import { secrets } from "./outgoing.ts";
import { reach } from "./reach.ts";
import { addSystemOptions, systemSettings, variableLines } from "./system-options.ts";
import { untilStopped } from "./until-stopped.ts";
import type { Verb } from "./verb.ts";

/** Where rancherd keeps the join token on a node; mounted read-only into the operator's Pod. */
const RANCHERD_CONFIG = "/etc/rancher/rancherd/config.yaml";

const KNOWN = SYSTEMS.map(({ name }) => name);

interface Options extends LogOptions, ConsoleOptions {
  kubeconfig?: string;
  context?: string;
  systems: string[];
  bootUrl: string;
  bootListen: ListenAddress;
  bootCert?: string;
  bootKey?: string;
  healthListen: ListenAddress;
  webhookPort: number;
  webhookUrl?: string;
  installCrds: boolean;
  leaderElection: boolean;
  shards: number;
  pollInterval: number;
  qps: number;
}

/** `slipway operator`: runs until a signal, or until it fails. */
export const verb: Verb = (program) => {
  const command = program
    .command("operator")
    .description("Run the operator on the cluster of a kubeconfig, or on the one it runs in.")
    .requiredOption("--boot-url <url>", "base URL at which machines reach this operator's boot service", httpUrl)
    .option("--kubeconfig <file>", "kubeconfig; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addOption(
      new Option("--systems <names>", `systems to run, of: ${KNOWN.join(", ")}`)
        .argParser(namesOf(KNOWN))
        .default([...DEFAULT_SYSTEMS], DEFAULT_SYSTEMS.join(",")),
    )
    .addOption(listens("--boot-listen", "where the boot service listens", "127.0.0.1:8081"))
    .option(
      "--boot-cert <file>",
      "PEM certificate of the boot service; unset: HTTP, for behind a proxy that speaks TLS",
    )
    .option("--boot-key <file>", "PEM key of that certificate")
    .addOption(
      listens("--health-listen", "where /healthz, /readyz (both take ?verbose) and /metrics listen", "127.0.0.1:8080"),
    )
    .option(
      "--webhook-port <port>",
      "where versions of kinds are converted, on the address of --health-listen; opened only for kinds that need it",
      portNumber,
      WEBHOOK_PORT,
    )
    .option(
      "--webhook-url <url>",
      `base URL at which API servers reach that port; unset: through Service ${WEBHOOK_SERVICE}`,
      httpsUrl,
    )
    .option("--no-install-crds", "leave the CRDs as they are")
    .option("--no-leader-election", "run without a Lease: only where there is one replica")
    .option(
      "--shards <number>",
      "parts over which the systems' work is shared out among replicas, the same for all; 1: one replica leads each system",
      shardNumber,
      1,
    )
    .option("--poll-interval <seconds>", "between looks at machines on their way", positiveNumber, 15)
    .option("--qps <number>", "requests a second to the Kubernetes API", positiveNumber, 300)
    .addOption(logLevel("info"))
    .addOption(logFormat());
  addConsoleOptions(command);
  addSystemOptions(command)
    .addHelpText(
      "after",
      `
Systems:
${SYSTEMS.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join("\n")}

Environment:
  NAMESPACE         the operator's own namespace (${DEFAULT_NAMESPACE})
  EQUINIX_SECRET    Secret of the account for objects without a providerRef (${DEFAULT_SECRET})
  CONSOLE_OIDC_CLIENT_SECRET  of the client of --console-oidc-client; unset: a public client
${variableLines()}
  OTEL_EXPORTER_OTLP_ENDPOINT  collector of OpenTelemetry that machines' lives are sent to as traces (docs/traces.md)

Examples:
  slipway operator --boot-url https://slipway.example:8443 --boot-listen 0.0.0.0:8443 --boot-cert tls.crt --boot-key tls.key
  slipway operator --kubeconfig site.yaml --boot-url http://10.0.0.5:8081 --boot-listen 10.0.0.5:8081
  EQUINIX_ENDPOINT=http://127.0.0.1:8082/metal/v1 slipway operator --boot-url http://127.0.0.1:8081`,
    )
    .action(run);
};

function listens(flag: string, what: string, usual: string): Option {
  return new Option(`${flag} <address:port>`, what).argParser(listenAddress).default(listenAddress(usual), usual);
}

async function run(options: Options): Promise<void> {
  const clock = systemClock;
  const log = commandLog(options);
  const { env } = process;
  const traces = tracesOf(env);
  const given = systemSettings({ ...options }, env);
  const systems = systemsToRun(options.systems, given);
  const connection = await loadConnection({
    env,
    clock,
    ...(options.kubeconfig !== undefined && { kubeconfig: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
  const transport = createHttpTransport(connection);
  const registry = new Registry();
  const metrics = runtimeMetrics(registry);
  const counts = operatorMetrics(registry);
  const clients = new HttpClients();
  const http: AccountPorts["http"] = (ca, client) => clients.of(ca, client);
  const { qps } = options;
  const namespace = env.NAMESPACE || DEFAULT_NAMESPACE;
  const operator = createOperator(
    { transport, clock, random: cryptoRandom, log, http, metrics, counts, secrets, readNodeFile: readRancherd },
    {
      namespace,
      secret: env.EQUINIX_SECRET || DEFAULT_SECRET,
      of: await loadedSettings(given, log),
      bootUrl: options.bootUrl,
      pollMs: options.pollInterval * 1000,
      limits: { qps, burst: 2 * qps },
      systems,
      leaderElection: election(options, namespace),
    },
  );
  const { manager, client } = operator;
  const stopping = new AbortController();
  const open: (() => Promise<unknown>)[] = [() => clients.close(), () => transport.close()];
  let serving = false;
  try {
    const health = await serveHttp(
      healthHandler(registry, manager, () => serving),
      options.healthListen,
    );
    open.push(() => health.close());
    const boot = await serveHttp(operator.boot, { ...BOOT_LIMITS, ...options.bootListen, ...(await bootTls(options)) });
    open.push(() => boot.close());
    const console = await operatorConsole(options, { connection, clients, log, env, outputs: operator.outputs });
    open.push(async () => console?.close());
    await reach(transport, connection.server);
    const { webhookPort: port, webhookUrl } = options;
    const conversion = await serveConversion(
      { client, clock, log },
      {
        kinds: convertedKinds(operator.systems),
        mayBeForeign: convertedKinds(operator.systems).filter((one) => !KINDS.includes(one)),
        namespace,
        host: options.healthListen.host,
        port,
        ...(webhookUrl !== undefined && { url: () => webhookUrl }),
      },
    );
    open.push(async () => conversion?.close());
    serving = true;
    await conversion?.prepare();
    if (options.installCrds) await installKinds(operator.systems, { client, clock, signal: stopping.signal });
    await conversion?.start();
    if (options.installCrds) await operator.prepare(stopping.signal);
    const stopped = untilStopped();
    await manager.start(stopping.signal);
    const tracing = traced(traces, { clock, http: http(undefined), log, machines: operator.machines }, stopping.signal);
    open.push(() => tracing);
    log.info(
      {
        systems: systems.map(({ name }) => name),
        boot: boot.url,
        health: health.url,
        ...(traces !== undefined && { traces: traces.url }),
        ...(console !== undefined && { console: console.url }),
      },
      "operator started",
    );
    await stopped;
    log.info({}, "operator stopping");
  } finally {
    stopping.abort();
    await manager.stop();
    await operator.closed();
    await closeAll(open);
  }
}

/** Answers /healthz, /readyz and /metrics. */
function healthHandler(registry: Registry, manager: Manager, isServing: () => boolean): HttpHandler {
  return async ({ url }) => {
    const { pathname, searchParams } = new URL(url, "http://local.invalid");
    if (pathname === "/metrics") return plain(200, await registry.metrics(), { "content-type": registry.contentType });
    const shown = { verbose: searchParams.has("verbose"), serving: isServing(), health: manager.health() };
    const page = healthPage(pathname, shown);
    return page === undefined ? plain(404, "not found\n") : plain(page.status, page.text);
  };
}

/** Where traces go. What the collector is shown is no text for logs. */
function tracesOf(env: NodeJS.ProcessEnv): TraceSettings | undefined {
  const settings = traceSettings(env);
  for (const value of Object.values(settings?.headers ?? {})) secrets.add(value);
  return settings;
}

/** Sends traces where somebody takes them, until `signal`. */
async function traced(settings: TraceSettings | undefined, ports: TracerPorts, signal: AbortSignal): Promise<void> {
  if (settings === undefined) return;
  const { runTracer } = await import("../operator/tracing/tracer.ts");
  await runTracer(ports, settings, signal);
}

/** How it stands for election; false: there are no other replicas. */
function election({ leaderElection, shards }: Options, namespace: string): LeaderElection | false {
  // In containers every process is the first one, and two of them may share the node's name.
  if (leaderElection) return { namespace, shards, identity: `${hostname()}_${process.pid}_${uuid(cryptoRandom)}` };
  if (shards === 1) return false;
  throw new Fault("BadRequest", "operator", "--shards shares work out by Leases, and --no-leader-election takes none", {
    remedy: "give one of them",
  });
}

/** The boot service's certificate and key: both or none. */
async function bootTls({ bootCert, bootKey }: Options): Promise<{ tls?: { cert: string; key: string } }> {
  if (bootCert === undefined && bootKey === undefined) return {};
  if (bootCert === undefined || bootKey === undefined) {
    throw new Fault("BadRequest", "operator", "--boot-cert and --boot-key belong together", {
      remedy: "give both, or none",
    });
  }
  return { tls: { cert: await readFile(bootCert, "utf8"), key: await readFile(bootKey, "utf8") } };
}

async function readRancherd(): Promise<string | undefined> {
  try {
    return await readFile(RANCHERD_CONFIG, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
