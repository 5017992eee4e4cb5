/** A real `slipway up` with a simulated Harvester, and a client for its API, for the browser to look at. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cryptoRandom, isFault, quietLog, systemClock } from "@slipway/base";
import { type Client, createClient, type KubeObject, type Resource, type Transport } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { loadAll } from "js-yaml";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";

const ROOT = join(import.meta.dirname, "../..");
const KINDS: readonly Resource<KubeObject>[] = [Namespace, Secret, MachineProvider, InstancePool];
const PLACE = /^(Kubernetes API|Console) +https?:\/\/127\.0\.0\.1:(\d+)/;
const LAST_LINE = /^Ctrl-C stops it/;

export class World implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "slipway-world-"));
  /** Of the API and of the console: any free ones at first, the same after a restart. */
  #ports = [0, 0];
  #running: ChildProcess | undefined;

  static async start(): Promise<World> {
    const world = new World();
    await world.begin();
    return world;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#ports[1]}`;
  }

  get kubeconfig(): string {
    return readFileSync(join(this.dir, "kubeconfig"), "utf8");
  }

  /** Starts it, or starts it again where it was killed. Resolves when it is up. */
  async begin(): Promise<void> {
    const [api, console] = this.#ports;
    const ports = ["--port", `${api}`, "--console-port", `${console}`];
    const options = ["up", "--sim", "harvester", "--speed", "200", "--dir", this.dir, ...ports];
    const child = spawn(join(ROOT, "bin/slipway"), options, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    this.#running = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const [, at, port] = PLACE.exec(line) ?? [];
      if (at !== undefined) this.#ports[at === "Console" ? 1 : 0] = Number(port);
      if (!LAST_LINE.test(line)) continue;
      child.stdout.resume();
      return;
    }
    throw new Error(`slipway up ended with ${child.exitCode} before it was up`);
  }

  async kill(signal: "SIGKILL" | "SIGINT"): Promise<void> {
    const child = this.#running;
    this.#running = undefined;
    if (child === undefined) return;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill(signal);
    await ended;
  }

  /** Does something with its API, as its administrator. */
  async withApi<T>(work: (transport: Transport) => Promise<T>): Promise<T> {
    const file = join(this.dir, "kubeconfig");
    const transport = createHttpTransport(await loadConnection({ kubeconfig: file, env: {}, clock: systemClock }));
    try {
      return await work(transport);
    } finally {
      await transport.close();
    }
  }

  withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    return this.withApi((transport) =>
      work(createClient(transport, { clock: systemClock, random: cryptoRandom, log: quietLog })),
    );
  }

  /** Creates the objects of a file of the examples that are not there yet. Throws where the API refuses one. */
  async apply(file: string): Promise<void> {
    const drafts = loadAll(readFileSync(join(ROOT, "examples", file), "utf8")) as KubeObject[];
    for (const draft of drafts)
      await this.withClient((client) => client.create(KINDS.find(({ kind }) => kind === draft.kind)!, draft)).catch(
        (error: unknown) => {
          if (!isFault(error, "AlreadyExists")) throw error;
        },
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill("SIGINT");
    rmSync(this.dir, { recursive: true });
  }
}
