/**
 * Slipway on a laptop: a Kubernetes API (the embedded one, or real binaries), the operator, simulated providers and a simulated Harvester cluster in
 * one process, on loopback sockets. `demo` and `up` are two ways to look at it.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Fault } from "../base/fault.ts";
import type { Http } from "../base/http.ts";
import { undiciHttp } from "../base/http-client.ts";
import { serveHttp } from "../base/http-server.ts";
import type { Log, Secrets } from "../base/log.ts";
import { ALPHANUMERIC, cryptoRandom, type Random, text } from "../base/random.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Client } from "../kube/client.ts";
import { createClient } from "../kube/rest-client.ts";
import type { Transport } from "../kube/transport.ts";
import { serveConversion } from "../operator/conversion-server.ts";
import { installCrds } from "../operator/install-crds.ts";
import { KINDS } from "../operator/kinds.ts";
import { addNetboot, prepareDiscovery } from "../operator/netboot.ts";
import { createOperator, type Operator } from "../operator/operator.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../systems/harvester/names.ts";
import { type LaptopIdentity, laptopIdentity } from "./laptop-identity.ts";
import { type KubernetesChoice, startKubernetes } from "./laptop-kubernetes.ts";
import { type SimulatedMetal, startMetal } from "./laptop-metal.ts";
import type { NetbootHere } from "./netboot-place.ts";

export interface LaptopOptions {
  kubernetes: KubernetesChoice;
  /** Where state is kept; undefined: nowhere. */
  dir: string | undefined;
  host: string;
  /** Of the Kubernetes API; 0: any free one. */
  port: number;
  /** How many times faster than real metal the simulated one is. */
  speed: number;
  log: Log;
  secrets: Secrets;
  /** Boots real machines as well. */
  netboot?: Pick<NetbootHere, "settings" | "start">;
  /** Slipway's own unless given. */
  kinds?: readonly (readonly Kind[])[];
}

export interface Laptop {
  /** Base URL of the Kubernetes API. */
  url: string;
  identity: LaptopIdentity;
  client: Client;
  operator: Operator;
  metal: SimulatedMetal;
  /** Resolves with what happened when the Kubernetes ends by itself. */
  died: Promise<Fault>;
  close(): Promise<void>;
}

const VIP = "10.20.30.40";
const POLL_MS = 1000;
const LOOPBACK = "127.0.0.1";

/** Starts everything, in the order in which one part needs the other; what was started before a failure is closed again. */
export async function startLaptop(options: LaptopOptions): Promise<Laptop> {
  const { log, secrets, host, port, kinds = KINDS } = options;
  // The clouds' state speaks of the objects of one API: each kind of API has its own.
  const dir = options.dir !== undefined && options.kubernetes === "real" ? join(options.dir, "real") : options.dir;
  const clock: Clock = systemClock;
  const random: Random = cryptoRandom;
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    if (dir !== undefined) await mkdir(dir, { recursive: true, mode: 0o700 });
    const identity = await laptopIdentity(options.dir, host, clock);
    const ports = { clock, random, log };
    const kubernetes = await startKubernetes(options.kubernetes, { dir, host, port, identity, kinds, ...ports });
    closers.push(() => kubernetes.close());
    const { transport, url, died } = kubernetes;
    const client = createClient(transport, { clock, random, log });
    const stopping = new AbortController();
    await installCrds(client, clock, stopping.signal, kinds);

    const joinToken = await kept(dir, "join-token", () => text(random, 32, ALPHANUMERIC));
    secrets.add(joinToken);
    const http = undiciHttp({});
    closers.push(() => http.close());
    const metal = await startMetal({
      client,
      clock,
      random,
      log,
      http,
      speed: options.speed,
      vip: VIP,
      joinToken,
      dir,
    });
    closers.push(() => metal.close());
    if (options.kubernetes === "real") {
      // The embedded API converts by itself; this one asks.
      const way = { host: LOOPBACK, port: 0, url: (at: number) => `https://${LOOPBACK}:${at}` };
      const conversion = await serveConversion({ client, clock, log }, { kinds, namespace: DEFAULT_NAMESPACE, ...way });
      closers.push(async () => conversion?.close());
      await conversion?.start();
    }
    const { operator, closeBoot } = await startOperator(options, { transport, clock, random, http, metal, joinToken });
    closers.push(closeBoot);
    const { netboot } = options;
    if (netboot !== undefined) {
      await prepareDiscovery({ client, clock, signal: stopping.signal }, netboot.settings);
      const led = addNetboot(operator.manager, netboot.settings, { start: netboot.start, log, clock });
      closers.push(() => led.closed());
    }
    await operator.manager.start(stopping.signal);
    closers.push(() => operator.manager.stop());
    return { url, identity, client, operator, metal, died, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts {
  transport: Transport;
  clock: Clock;
  random: Random;
  http: Http;
  metal: SimulatedMetal;
  joinToken: string;
}

async function startOperator(
  { log, secrets, host }: LaptopOptions,
  { transport, clock, random, http, metal, joinToken }: Parts,
): Promise<{ operator: Operator; closeBoot: () => Promise<void> }> {
  // The boot service's address is part of what the operator tells machines, so its socket comes first.
  let answer: Operator["boot"] | undefined;
  const boot = await serveHttp(async (request) => await answer!(request), { host });
  const ports = {
    transport,
    clock,
    random,
    log,
    http: () => http,
    readNodeFile: async () => undefined,
    secrets,
  };
  const operator = createOperator(ports, {
    namespace: DEFAULT_NAMESPACE,
    secret: DEFAULT_SECRET,
    endpoints: { equinix: metal.equinix.url, latitude: metal.latitude.url },
    joinToken,
    bootUrl: boot.url,
    pollMs: POLL_MS,
    leaderElection: false,
  });
  answer = operator.boot;
  return { operator, closeBoot: () => boot.close() };
}

/** A value that is made once and found again; kept readable by its owner only. */
async function kept(dir: string | undefined, name: string, make: () => string): Promise<string> {
  if (dir === undefined) return make();
  const file = join(dir, name);
  try {
    return await readFile(file, "utf8");
  } catch {
    const value = make();
    await writeFile(file, value, { mode: 0o600 });
    return value;
  }
}
