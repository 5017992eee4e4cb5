/** The two Kubernetes APIs that benchmarks are run against, each in processes of its own and reached over TLS by its administrator. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock as clock, cryptoRandom, quietLog } from "@slipway/base";
import { createClient, type Transport } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { findAssets } from "../src/kubernetes/assets.ts";
import { type ControlPlane, startControlPlane } from "../src/kubernetes/control-plane.ts";
import { laptopIdentity } from "../src/laptop/identity.ts";
import { operatorTransport, prepare } from "../test/kubernetes/operator-account.ts";
import { NODE_ENV, NODE_FLAGS } from "./as-command.ts";
import { cpuOf, residentOf } from "./proc.ts";

export const SERVERS = ["embedded", "real"] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Server {
  /** What runs, with its version. */
  name: string;
  kubeconfigFile: string;
  /** From its start until `/readyz` said yes. */
  readySeconds: number;
  transport(): Promise<Transport>;
  /** As the operator in the cluster connects: by its ServiceAccount's token, with the rights that `deploy/` gives it. Only the real one has accounts here. */
  operatorTransport?(): Promise<Transport>;
  /** Resident memory of all its processes. */
  residentMiB(): number;
  /** CPU time of all its processes since they began. */
  cpuSeconds(): number;
  close(): Promise<void>;
}

/** Whether the real one's binaries are here. */
export async function realIsHere(): Promise<boolean> {
  return await findAssets(process.env).then(
    () => true,
    () => false,
  );
}

/** `durable`: the embedded one keeps its objects in a file as etcd does; otherwise in memory. The real one is always durable. */
export async function startServer(which: ServerName, durable: boolean): Promise<Server> {
  return which === "real" ? startReal() : startEmbedded(durable);
}

const transportTo = async (kubeconfig: string): Promise<Transport> =>
  createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));

async function startReal(): Promise<Server> {
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const assets = await findAssets(process.env);
  const began = performance.now();
  const plane = await startControlPlane({ assets, clock, identity });
  const readySeconds = (performance.now() - began) / 1000;
  const transport = await transportTo(plane.kubeconfigFile);
  const { body } = await transport.request({ method: "GET", path: "/version" });
  await transport.close();
  return {
    name: `kube-apiserver ${(body as { gitVersion: string }).gitVersion} with etcd`,
    kubeconfigFile: plane.kubeconfigFile,
    readySeconds,
    transport: () => transportTo(plane.kubeconfigFile),
    operatorTransport: () => asOperator(plane),
    residentMiB: () => plane.pids().reduce((sum, pid) => sum + residentOf(pid), 0),
    cpuSeconds: () => plane.pids().reduce((sum, pid) => sum + cpuOf(pid), 0),
    close: () => plane.close(),
  };
}

async function asOperator(plane: ControlPlane): Promise<Transport> {
  const transport = await transportTo(plane.kubeconfigFile);
  const client = createClient(transport, { clock, random: cryptoRandom, log: quietLog });
  const cluster = { plane, transport, client, close: () => transport.close() };
  await prepare(cluster);
  const operator = await operatorTransport(cluster);
  await cluster.close();
  return operator;
}

async function startEmbedded(durable: boolean): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-bench-"));
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const began = performance.now();
  const child = fork(new URL("./embedded-server.ts", import.meta.url), [durable ? join(dir, "db") : ""], {
    execArgv: NODE_FLAGS,
    env: NODE_ENV,
  });
  child.send(identity.serving);
  const [url] = (await once(child, "message")) as [string];
  const kubeconfigFile = join(dir, "kubeconfig");
  await writeFile(kubeconfigFile, identity.kubeconfig(url), { mode: 0o600 });
  const transport = await transportTo(kubeconfigFile);
  const { status } = await transport.request({ method: "GET", path: "/readyz" });
  if (status !== 200) throw new Error(`/readyz answered ${status}`);
  const readySeconds = (performance.now() - began) / 1000;
  await transport.close();
  return {
    name: `embedded API, ${durable ? "journal on disk" : "in memory"}`,
    kubeconfigFile,
    readySeconds,
    transport: () => transportTo(kubeconfigFile),
    residentMiB: () => residentOf(child.pid!),
    cpuSeconds: () => cpuOf(child.pid!),
    async close() {
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
      await rm(dir, { recursive: true });
    },
  };
}
