/** A kube-apiserver with one of the two cores of Cluster API on it, whose managers are processes of their own. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { installCrds } from "../src/kinds/install.ts";
import { KeptProcess } from "../src/kubernetes/kept-process.ts";
import { DEFAULT_NAMESPACE } from "../src/operator/defaults.ts";
import { realApi } from "../test/kubernetes/cluster-api/management.ts";
import { startUpstream } from "../test/kubernetes/cluster-api/upstream.ts";
import { freePort } from "../test/kubernetes/free-port.ts";
import { until } from "../test/kubernetes/live.ts";
import { PROVIDER_KINDS } from "../test/system/cluster-api-provider.ts";
import { childrenOf } from "./proc.ts";

const COMMAND = fileURLToPath(new URL("../bin/slipway", import.meta.url));
const START_MS = 120_000;
/** kube-apiserver holds back what is created right after a definition's establishment. */
const ESTABLISHED_MS = 2_500;

/** Upstream's, in whose place the light core is. */
const MANAGERS = ["capi-core", "capi-bootstrap"];

export type CoreName = "light" | "upstream";

export interface Core {
  name: CoreName;
  transport: Transport;
  /** Of its managers. */
  pids(): number[];
  /** Of the API server and its etcd. */
  servers(): number[];
  /** Requests that the API server has answered so far, by verb and resource; watches left out. */
  requests(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** Starts it all. `folder`: where kubectl, clusterctl and upstream's programs are. */
export async function startCore(name: CoreName, folder: string): Promise<Core> {
  const closers: (() => Promise<unknown>)[] = [];
  const t = { after: (end: () => Promise<unknown>) => closers.push(end) };
  const { kubeconfigFile, transport } = await (name === "light" ? light(t) : upstream(t, folder));
  const client = createClient(transport, { clock, random, log });
  await installCrds(client, clock, new AbortController().signal, PROVIDER_KINDS as never);
  await clock.sleep(ESTABLISHED_MS);
  const program = name === "light" ? /^(node|slipway|MainThread)$/ : /^capi-/;
  const named = (pattern: RegExp): number[] =>
    childrenOf(process.pid).flatMap((child) => (pattern.test(child.name) ? [child.pid] : []));
  const pids = named(program);
  const servers = named(/^(kube-apiserver|etcd)$/);
  if (pids.length !== (name === "light" ? 1 : MANAGERS.length))
    throw new Error(`${pids.length} managers: ${JSON.stringify(childrenOf(process.pid))}`);
  return {
    ...{ name, transport, pids: () => pids, servers: () => servers },
    requests: () => requestsOf(join(folder, "kubectl"), kubeconfigFile),
    async close() {
      for (const end of closers.reverse()) await end();
    },
  };
}

type Began = { kubeconfigFile: string; transport: Transport };

async function upstream(t: Parameters<typeof startUpstream>[0], folder: string): Promise<Began> {
  return await startUpstream(t, folder, { run: MANAGERS, api: () => realApi() });
}

/** Slipway with its core alone, as its command runs it. */
async function light(t: { after(end: () => Promise<unknown>): unknown }): Promise<Began> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  t.after(() => rm(dir, { recursive: true }));
  const { kubeconfigFile, close } = await realApi();
  t.after(close);
  const transport = createHttpTransport(await loadConnection({ kubeconfig: kubeconfigFile, env: {}, clock }));
  t.after(() => transport.close());
  const client = createClient(transport, { clock, random, log });
  await client.create(Namespace, { metadata: { name: DEFAULT_NAMESPACE } });
  const [health, webhook] = [await freePort(), await freePort()];
  const child = new KeptProcess({
    command: COMMAND,
    args: [
      ...["operator", "--kubeconfig", kubeconfigFile, "--systems", "cluster-api", "--cluster-api-core", "light"],
      ...["--no-leader-election", "--log-level", "warn", "--boot-url", "http://127.0.0.1:9"],
      ...["--boot-listen", "127.0.0.1:0", "--health-listen", `127.0.0.1:${health}`],
      ...["--webhook-port", String(webhook), "--webhook-url", `https://127.0.0.1:${webhook}`],
    ],
    logFile: join(dir, "operator.log"),
  });
  t.after(() => child.stop());
  const isReady = async (): Promise<boolean> => {
    if (!child.running) throw new Error(`the operator ended\n${await child.lastWords()}`);
    return await fetch(`http://127.0.0.1:${health}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until("the light core is ready", isReady, START_MS, () => child.lastWords());
  return { kubeconfigFile, transport };
}

async function requestsOf(kubectl: string, kubeconfig: string): Promise<ReadonlyMap<string, number>> {
  const args = ["get", "--raw", "/metrics", "--kubeconfig", kubeconfig];
  const { stdout } = await promisify(execFile)(kubectl, args, { maxBuffer: 256 << 20 });
  const counts = new Map<string, number>();
  for (const [, labels, count] of stdout.matchAll(/^apiserver_request_total\{([^\n]*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels!)?.[1] ?? "";
    if (label("verb") === "WATCH") continue;
    const resource = [label("resource"), label("subresource")].filter(Boolean).join("/");
    const name = `${label("verb")} ${resource}${label("code") === "409" ? " (conflict)" : ""}`;
    counts.set(name, (counts.get(name) ?? 0) + Number(count));
  }
  return counts;
}
