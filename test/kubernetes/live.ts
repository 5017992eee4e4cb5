/**
 * Slipway in real time on a real cluster: the operator as processes of its own, with the account and the rights that `deploy/` ships;
 * the metal and the Harvester site are simulated in the test's process. Machines reach whichever replica answers, as through a Service.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock as clock } from "../../src/base/clock.ts";
import { type Http, type HttpAnswer, type HttpRequest, plain } from "../../src/base/http.ts";
import { undiciHttp } from "../../src/base/http-client.ts";
import { serveHttp } from "../../src/base/http-server.ts";
import { quietLog } from "../../src/base/log.ts";
import { cryptoRandom as random } from "../../src/base/random.ts";
import { EXAMPLE_KEYS, type SimulatedMetal, startMetal } from "../../src/cli/laptop-metal.ts";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { Lease, Secret } from "../../src/kube/core.ts";
import { loadConnection } from "../../src/kube/kubeconfig.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { CONTROLLERS, operatorToken, prepare } from "./stage.ts";

const SITE = { vip: "10.20.30.40", joinToken: "join-token-of-the-live-test" };
const SPEED = 2000;
const LOOK_MS = 100;

export interface Live {
  cluster: Cluster;
  metal: SimulatedMetal;
  /** Starts one more replica; resolves once its caches are filled. */
  operator(...more: string[]): Promise<Replica>;
  /** Who holds the system's Lease: a replica's `identity`, or "". */
  leader(): Promise<string>;
  scale(count: number): Promise<void>;
  /** Until the pool has so many machines, all in service, and the cloud no others. */
  whole(count: number): Promise<void>;
  /** How things stand, for the person who reads a failed test. */
  story(): Promise<string>;
  close(): Promise<void>;
}

/** One operator process. */
export class Replica {
  readonly child: ChildProcess;
  readonly bootUrl: string;
  readonly said: string[] = [];
  readonly started: Promise<void>;
  /** Whether machines can be answered by it. */
  awake = true;

  constructor(args: readonly string[], env: Record<string, string>, bootPort: number) {
    this.bootUrl = `http://127.0.0.1:${bootPort}`;
    this.child = spawn(process.execPath, ["src/cli/main.ts", "operator", ...args], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, ...env },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    createInterface({ input: this.child.stderr! }).on("line", (line) => {
      this.said.push(line);
      if (line.includes("operator started")) resolve();
    });
    this.child.once("exit", (code, signal) => {
      this.awake = false;
      reject(new Error(`the operator ended with ${code ?? signal}\n${this.said.slice(-10).join("\n")}`));
    });
    promise.catch(() => {});
  }

  /** Its part of the Lease's holder: what follows is drawn anew at each start. */
  get identity(): string {
    return `${hostname()}_${this.child.pid}`;
  }

  pause(): void {
    this.awake = false;
    this.child.kill("SIGSTOP");
  }

  resume(): void {
    this.awake = true;
    this.child.kill("SIGCONT");
  }

  /** Resolves when it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, "exit");
    this.child.kill(signal);
    await gone;
  }
}

export async function startLive(): Promise<Live> {
  const cluster = await startCluster({ controllers: CONTROLLERS });
  const { client, plane } = cluster;
  await prepare(cluster);
  const { token, project } = EXAMPLE_KEYS.equinix;
  const secret = { name: "equinix-addon", namespace: "harvester-system" };
  const stringData = { METAL_AUTH_TOKEN: token, PROJECT_ID: project.id };
  await client.create(Secret, { metadata: secret, stringData });
  const http = undiciHttp({});
  const metal = await startMetal({ client, clock, random, log: quietLog, http, speed: SPEED, ...SITE, dir: undefined });
  const replicas: Replica[] = [];
  const service = await serveHttp((request) => forward(request, replicas, http));

  const { server, ca } = await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock });
  const account = join(plane.dir, "operator.kubeconfig");
  const caPem = ca === undefined ? {} : { caPem: ca };
  await writeFile(account, kubeconfig({ name: "operator", server, ...caPem, token: await operatorToken(cluster) }), {
    mode: 0o600,
  });

  const story = async (): Promise<string> => {
    const objects = [...(await client.list(InstancePool)).items, ...(await client.list(Instance)).items];
    const lines = objects.map(({ kind, metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return `${kind} ${metadata.name}: ${status?.status} ${ready?.reason}: ${ready?.message}`;
    });
    return [...lines, ...(replicas.at(-1)?.said.slice(-10) ?? [])].join("\n");
  };
  return {
    cluster,
    metal,
    async operator(...more) {
      const { port } = await free();
      // biome-ignore format: pairs of name and value
      const args = ["--kubeconfig", account, "--boot-url", service.url, "--boot-listen", `127.0.0.1:${port}`,
        "--health-listen", "127.0.0.1:0", "--poll-interval", "0.2", ...more];
      const replica = new Replica(args, { TOKEN: SITE.joinToken, EQUINIX_ENDPOINT: metal.equinix.url }, port);
      replicas.push(replica);
      await replica.started;
      return replica;
    },
    async leader() {
      const lease = await client.find(Lease, { namespace: "harvester-system", name: "slipway-harvester" });
      return (lease?.spec?.holderIdentity ?? "").replace(/_[^_]*$/, "");
    },
    async scale(count) {
      if ((await client.find(InstancePool, { name: "rack" })) !== undefined) {
        await client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count } } });
        return;
      }
      const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly", count };
      await client.create(InstancePool, { metadata: { name: "rack" }, spec });
    },
    whole: (count) =>
      until(
        `the pool has ${count} machines in service`,
        async () => {
          const instances = (await client.list(Instance)).items;
          const managed = instances.filter(({ status }) => status?.status === "managed");
          const machines = metal.equinix.sim.devices();
          return managed.length === count && instances.length === count && machines.length === count;
        },
        180_000,
        story,
      ),
    story,
    async close() {
      for (const replica of replicas) await replica.end("SIGKILL");
      await service.close();
      await metal.close();
      await http.close();
      await cluster.close();
    },
  };
}

/** Awaits what is polled; the error tells what was missing and how things stood. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  forMs: number,
  story: () => Promise<string> | string = () => "",
): Promise<void> {
  const end = clock.now() + forMs;
  while (!(await holds())) {
    if (clock.now() > end) throw new Error(`not within ${forMs / 1000} s: ${what}\n${await story()}`);
    await clock.sleep(LOOK_MS);
  }
}

/** As a Service does, and a client that is sent away comes again. */
async function forward(request: HttpRequest, replicas: readonly Replica[], http: Http): Promise<HttpAnswer> {
  const { method, headers = {}, body } = request;
  const url = new URL(request.url);
  for (let attempt = 0; attempt < 100 && request.signal?.aborted !== true; attempt++) {
    const replica = replicas.findLast(({ awake }) => awake);
    if (replica !== undefined) {
      const { host: _, connection: __, ...passed } = headers;
      const to = { method, url: `${replica.bootUrl}${url.pathname}${url.search}`, headers: passed, timeoutMs: 5_000 };
      const answer = await http(body === undefined ? to : { ...to, body }).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return answer;
    }
    await clock.sleep(LOOK_MS);
  }
  return plain(503, "no replica answers");
}

async function free(): Promise<{ port: number }> {
  const server = await serveHttp(async () => plain(404, ""));
  await server.close();
  return server;
}
