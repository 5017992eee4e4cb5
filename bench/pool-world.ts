/**
 * A whole Slipway with a simulated cloud, for measuring it: embedded API in memory (or a real one beside us), operator, Equinix API, machines and Harvester
 * cluster in this process, by direct call or with the cloud and the boot service on loopback sockets.
 */
import { createApiServer } from "@slipway/apiserver";
import { type Clock, cryptoRandom, type Http, type HttpHandler, quietLog } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { InstancePool } from "../src/kinds/harvester/instance-pool.ts";
import { installCrds } from "../src/kinds/install.ts";
import { EXAMPLE_KEYS, type Serve, startMetal } from "../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../src/operator/defaults.ts";
import { KINDS } from "../src/operator/kinds.ts";
import { createOperator, type Operator } from "../src/operator/operator.ts";
import { settingsFrom } from "../src/operator/settings.ts";
import type { EquinixSim } from "../src/sim/equinix/equinix-sim.ts";
import type { Timings as CloudTimings } from "../src/sim/equinix/options.ts";
import type { Timings as FirmwareTimings } from "../src/sim/firmware/timings.ts";
import { simNetwork } from "../src/sim/network.ts";
import { startSite } from "../src/systems/harvester/simulated.ts";
import { Counts, countedTransport } from "./counts.ts";
import { startServer } from "./servers.ts";

export interface PoolWorldOptions {
  clock: Clock;
  cloud: CloudTimings;
  firmware: FirmwareTimings;
  /** Cloud and boot service on loopback sockets; otherwise by direct call. */
  sockets: boolean;
  /** The real kube-apiserver over TLS, in processes of its own; otherwise the embedded API by direct call. */
  real: boolean;
}

export interface PoolWorld {
  client: Client;
  operator: Operator;
  equinix: EquinixSim;
  /** CPU time of the API's own processes; 0 where it is in this one. */
  serverCpuSeconds(): number;
  /** The operator's requests to the Kubernetes API. */
  operatorRequests: Counts;
  /** Those of the simulated Harvester cluster: kubelets, promotion, Cluster API. */
  siteRequests: Counts;
  /** Resolves when the pools say that so many machines are ready, as a watch shows it. */
  managed(count: number): Promise<void>;
  pool(name: string, count: number): Promise<void>;
  close(): Promise<void>;
}

interface Api {
  transport(): Transport | Promise<Transport>;
  /** The operator's own way, where it has an account. */
  operatorTransport?(): Promise<Transport>;
  /** Absent: it is in this process. */
  cpuSeconds?(): number;
  close(): Promise<void>;
}

const ESTABLISHED_MS = 2_500;
const VIP = "10.20.30.40";
const JOIN_TOKEN = "join-token-of-the-benchmark";
/** What an operator has unless its settings say otherwise. */
export const POLL_MS = 15_000;

/** Starts everything that a benchmark measures, and ends when the operator runs. The caller calls `close`. */
export async function poolWorld({
  clock,
  cloud,
  firmware: metal,
  sockets,
  real,
}: PoolWorldOptions): Promise<PoolWorld> {
  const [random, log] = [cryptoRandom, quietLog];
  const [operatorRequests, siteRequests] = [new Counts(), new Counts()];
  const closers: (() => unknown)[] = [];
  const api: Api = await (real ? startServer("real", true) : createApiServer({ clock, random, log }));
  closers.push(() => api.close());
  const connect = async (way?: () => Promise<Transport>): Promise<Transport> => {
    const transport = await (way?.() ?? api.transport());
    closers.push(() => transport.close());
    return transport;
  };
  const client = createClient(await connect(), { clock, random, log });
  await installCrds(client, clock, new AbortController().signal, KINDS);
  // kube-apiserver holds back what is created within two seconds of a definition's establishment; a cluster has them long before.
  if (real) await clock.sleep(ESTABLISHED_MS);

  const network = sockets ? undefined : simNetwork();
  const http: Http = network?.http ?? overSockets(closers);
  const serve: Serve = async (origin, handler) => {
    if (network === undefined) return await serveHttp(handler, {});
    const stop = network.serve(origin, handler);
    return { url: origin, close: async () => stop() };
  };
  const siteClient = createClient(countedTransport(await connect(), siteRequests), { clock, random, log });
  const { equinix, close: closeMetal } = await startMetal({
    ...{ client: siteClient, clock, random, log, http, serve, vip: VIP, joinToken: JOIN_TOKEN },
    counterparts: [{ title: "Harvester", start: (ports) => startSite(ports), leftOvers: async () => [] }],
    equinix: { timings: cloud },
    firmware: { timings: metal },
  });
  closers.push(closeMetal);

  const { token, project } = EXAMPLE_KEYS.equinix;
  await client.create(Secret, {
    metadata: { namespace: DEFAULT_NAMESPACE, name: DEFAULT_SECRET },
    stringData: { METAL_AUTH_TOKEN: token, PROJECT_ID: project.id },
  });
  let boot: HttpHandler | undefined;
  const bootServer = await serve("https://boot.example", async (request) => await boot!(request));
  closers.push(() => bootServer.close());
  const operator = createOperator(
    {
      transport: countedTransport(await connect(api.operatorTransport), operatorRequests),
      clock,
      random,
      log,
      http: () => http,
      readNodeFile: async () => undefined,
    },
    {
      namespace: DEFAULT_NAMESPACE,
      secret: DEFAULT_SECRET,
      of: settingsFrom({ TOKEN: JOIN_TOKEN, EQUINIX_ENDPOINT: equinix.url }),
      bootUrl: bootServer.url,
      pollMs: POLL_MS,
      leaderElection: false,
    },
  );
  boot = operator.boot;
  await operator.manager.start();
  closers.push(() => operator.manager.stop());

  return {
    client,
    operator,
    equinix: equinix.sim,
    serverCpuSeconds: () => api.cpuSeconds?.() ?? 0,
    operatorRequests,
    siteRequests,
    async managed(count) {
      const ready = new Map<string, number>();
      // A server may end a watch at any time; the next one begins with what there is.
      for (;;) {
        const stream = await client.watch(InstancePool, { resourceVersion: "0" });
        for await (const { object } of stream) {
          const { metadata, status } = object as InstancePool;
          ready.set(metadata.name, status?.ready ?? 0);
          if ([...ready.values()].reduce((sum, each) => sum + each, 0) >= count) return;
        }
      }
    },
    async pool(name, count) {
      const body = {
        apiVersion: "equinix.harvesterhci.io/v1",
        kind: "InstancePool",
        metadata: { name },
        spec: { count, plan: "c3.small.x86", metro: "SG", billingCycle: "hourly" },
      };
      await client.patch(InstancePool, { name }, { type: "apply", body, fieldManager: "bench", force: true });
    },
    async close() {
      for (const end of closers.reverse()) await end();
    },
  };
}

function overSockets(closers: (() => unknown)[]): Http {
  const http = undiciHttp({ connections: 64 });
  closers.push(() => http.close());
  return http;
}
