/**
 * A real Kubernetes control plane as processes of this machine: etcd, kube-apiserver and, where asked for,
 * kube-controller-manager, on loopback or a given address. Nothing of it outlives us; without a directory nothing stays behind.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, deadline, Fault, privateFolder, replacePrivateFile } from "@slipway/base";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { apiServerFlags, controllerManagerFlags, etcdFlags } from "./flags.ts";
import { KeptProcess } from "./kept-process.ts";

export interface ControlPlaneOptions {
  /** The folder with the binaries; see `findAssets`. */
  assets: string;
  clock: Clock;
  /** Who the server is and who its administrator is (`system:masters`). */
  identity: { serving: { cert: string; key: string; clientCa?: string }; kubeconfig(url: string): string };
  /** Where its state is kept. Unset: a folder that is removed with the control plane. */
  dir?: string;
  host?: string;
  /** 0 or unset: any free one. */
  port?: number;
  /** Name of the API server's binary: `kube-apiserver` unless said. */
  apiServer?: string;
  /** Which controllers kube-controller-manager runs (`*`, `-name`, `name`); unset: it is not started. */
  controllers?: readonly string[];
  /** More flags for kube-apiserver; they win over ours. */
  apiServerFlags?: readonly string[];
}

export interface ControlPlane {
  url: string;
  port: number;
  /** The administrator's kubeconfig, and the file it is in. */
  kubeconfig: string;
  kubeconfigFile: string;
  /** Where state and logs (`etcd.log`, `kube-apiserver.log`, `kube-controller-manager.log`) are. */
  dir: string;
  /** Base URL of etcd's client port: plain HTTP, on loopback only. */
  etcd: string;
  /** Starts kube-controller-manager with these controllers. */
  startControllers(controllers: readonly string[]): void;
  /** Ends the API server. */
  stopApiServer(signal?: "TERM" | "KILL"): Promise<void>;
  /** Starts it again at the same address and waits until it is ready. */
  startApiServer(): Promise<void>;
  /** The processes that run: what they cost is read from them. */
  pids(): number[];
  /** Resolves with what happened when a part ends by itself. */
  died: Promise<Fault>;
  close(): Promise<void>;
}

const READY_MS = 120_000;
const LOOK_MS = 100;

/** Starts the parts in order and waits until the API server says it is ready. Rejects with a `Fault` that quotes the last words of the part that failed. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { assets, clock, identity, host = "127.0.0.1" } = options;
  const throwAway = options.dir === undefined;
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), "slipway-kubernetes-")));
  privateFolder(dir);
  const [port, etcdPort, peerPort, healthPort] = await freePorts(host, options.port ?? 0);
  const url = `https://${host}:${port}`;
  const kubeconfig = identity.kubeconfig(url);
  const file = (name: string): string => join(dir, name);
  await replacePrivateFile(file("server.crt"), identity.serving.cert);
  await replacePrivateFile(file("server.key"), identity.serving.key);
  await replacePrivateFile(file("ca.crt"), identity.serving.clientCa ?? "");
  await replacePrivateFile(file("kubeconfig"), kubeconfig);
  await accountKeys(file("sa.key"), file("sa.pub"));

  const parts = new Set<KeptProcess>();
  const { promise: died, resolve: reportDeath } = Promise.withResolvers<Fault>();
  const start = (name: string, args: readonly string[]): KeptProcess => {
    const fate = throwAway ? { orphaned: "KILL" as const, ...(name === "etcd" && { removeAfter: dir }) } : {};
    const part = new KeptProcess({ command: join(assets, name), args, logFile: file(`${name}.log`), ...fate });
    parts.add(part);
    void part.gone.then(async (code) => {
      if (parts.delete(part)) reportDeath(await unexpected(name, code, part));
    });
    return part;
  };
  const stop = async (part: KeptProcess, signal?: "TERM" | "KILL"): Promise<void> => {
    parts.delete(part);
    await part.stop(signal);
  };
  const close = async (): Promise<void> => {
    for (const part of [...parts].reverse()) await stop(part, throwAway ? "KILL" : "TERM");
  };

  const name = options.apiServer ?? "kube-apiserver";
  const flags = [
    ...apiServerFlags({ file, host, port: port!, etcdPort: etcdPort! }),
    ...(options.apiServerFlags ?? []),
  ];
  try {
    start("etcd", etcdFlags({ dir: file("etcd"), port: etcdPort!, peerPort: peerPort! }));
    let server = start(name, flags);
    await ready(server, name, file("kubeconfig"), clock);
    const startControllers = (controllers: readonly string[]): void => {
      start("kube-controller-manager", controllerManagerFlags({ file, port: healthPort! }, controllers));
    };
    if (options.controllers !== undefined) startControllers(options.controllers);
    return {
      url,
      port: port!,
      kubeconfig,
      kubeconfigFile: file("kubeconfig"),
      dir,
      etcd: `http://127.0.0.1:${etcdPort}`,
      startControllers,
      stopApiServer: (signal) => stop(server, signal),
      startApiServer: async () => {
        server = start(name, flags);
        await ready(server, name, file("kubeconfig"), clock);
      },
      pids: () => [...parts].map((part) => part.pid()),
      died,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until `/readyz` says so. */
async function ready(server: KeptProcess, name: string, kubeconfig: string, clock: Clock): Promise<void> {
  const transport = createHttpTransport(await loadConnection({ kubeconfig, env: {}, clock }));
  const { signal, done } = deadline(clock, READY_MS);
  let failure: unknown;
  try {
    while (server.running) {
      failure = await transport.request({ method: "GET", path: "/readyz", signal }).then(
        (answer) => (answer.status === 200 ? undefined : answer.body),
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      if (signal.aborted) break;
      await clock.sleep(LOOK_MS);
    }
    const why = server.running ? `not ready within ${READY_MS / 1000} s` : "it ended";
    throw new Fault("Unavailable", name, `${why}\n${await server.lastWords()}`, { cause: failure });
  } finally {
    done();
    await transport.close();
  }
}

async function unexpected(name: string, code: number, part: KeptProcess): Promise<Fault> {
  return new Fault("Unavailable", name, `ended with exit code ${code}\n${await part.lastWords()}`);
}

/** The wanted port and three free ones. Between finding and use another process may take one: the part then says so. */
async function freePorts(host: string, wanted: number): Promise<number[]> {
  const servers = await Promise.all(
    [0, 0, 0, 0].map(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer().once("error", reject);
          server.listen(0, host, () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return [wanted === 0 ? ports[0]! : wanted, ...ports.slice(1)];
}

/** The keys with which ServiceAccount tokens are signed: kept with the state, or tokens would not outlive a restart. */
async function accountKeys(privateFile: string, publicFile: string): Promise<void> {
  const found = await readFile(publicFile, "utf8").catch(() => "");
  if (found !== "") return;
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await replacePrivateFile(privateFile, privateKey.export({ type: "pkcs1", format: "pem" }).toString());
  await replacePrivateFile(publicFile, publicKey.export({ type: "spki", format: "pem" }).toString());
}
