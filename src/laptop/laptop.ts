/**
 * Slipway on a laptop: a Kubernetes API (the embedded one, or real binaries), the operator, simulated providers and, where they are wanted, simulated
 * clusters in one process, on loopback sockets. `demo` and `up` are two ways to look at it.
 */
import { join } from "node:path";
import {
  ALPHANUMERIC,
  type Clock,
  closeAll,
  cryptoRandom,
  type Fault,
  type Http,
  isFault,
  type Log,
  privateFile,
  privateFolder,
  type Random,
  replacePrivateFile,
  type Secrets,
  systemClock,
  text,
  uuid,
} from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";
import { BOOT_LIMITS } from "../bootstrap/boot-service.ts";
import type { MachineOutputs } from "../inventory/outputs/outputs.ts";
import type { Kind } from "../kinds/kind.ts";
import { serveConversion } from "../operator/conversion-server.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET, DEFAULT_SYSTEMS } from "../operator/defaults.ts";
import { installKinds } from "../operator/install-kinds.ts";
import { convertedKinds, KINDS } from "../operator/kinds.ts";
import { createOperator, type Operator, systemsToRun } from "../operator/operator.ts";
import { type SystemSettings, settingsFrom } from "../operator/settings.ts";
import { SYSTEMS } from "../operator/systems.ts";
import { textOf } from "../pki/shelf.ts";
import type { Counterpart, HardwarePorts, StandInHardware } from "../systems/counterpart.ts";
import type { System } from "../systems/system.ts";
import { type LaptopIdentity, laptopIdentity } from "./identity.ts";
import { type KubernetesChoice, startKubernetes } from "./kubernetes.ts";
import { type SimulatedMetal, startMetal } from "./metal.ts";

export interface LaptopOptions {
  kubernetes: KubernetesChoice;
  /** Where state is kept; undefined: nowhere. */
  dir: string | undefined;
  host: string;
  /** Of the Kubernetes API; 0: any free one. */
  port: number;
  /** How many times faster than real metal the simulated one is. */
  speed: number;
  /** The clusters that are simulated for machines to join. */
  counterparts: readonly Counterpart[];
  /** What stands in for machines of a user's own, by the name of the system that serves them. Default: there are none. */
  hardware?: Readonly<Record<string, StandInHardware>>;
  log: Log;
  secrets: Secrets;
  /** See `startKubernetes`. */
  onRepair?: (report: string[]) => void;
  /** What is set of each system, by its name, beside what a laptop sets itself. */
  of?: SystemSettings;
  /** Whether the operator runs here; else the API, its kinds and the clouds do, for an operator elsewhere. Default: true. */
  hasOperator?: boolean;
  /** Called when the API serves all kinds and the simulated parts are there, before the operator starts: clients need not wait for that. */
  onServing?(serving: Pick<Laptop, "url" | "identity" | "metal">): Promise<void>;
  /** Slipway's own unless given. */
  kinds?: readonly (readonly Kind[])[];
}

export interface Laptop {
  /** Base URL of the Kubernetes API. */
  url: string;
  identity: LaptopIdentity;
  client: Client;
  /** The client's. */
  transport: Transport;
  metal: SimulatedMetal;
  /** What the operator has of machines' consoles and boot logs. */
  outputs: MachineOutputs;
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
  // What other owners may bring is converted here, too: on this API the definitions are ours.
  const converting = [...kinds, ...convertedKinds(SYSTEMS).filter((one) => !KINDS.includes(one))];
  // The clouds' state speaks of the objects of one API: each kind of API has its own.
  const dir = options.dir !== undefined && options.kubernetes === "real" ? join(options.dir, "real") : options.dir;
  const clock: Clock = systemClock;
  const random: Random = cryptoRandom;
  const closers: (() => Promise<void>)[] = [];
  const close = (): Promise<void> => closeAll(closers.splice(0));
  try {
    for (const folder of [options.dir, dir]) if (folder !== undefined) privateFolder(folder);
    const identity = await laptopIdentity(options.dir, host, clock);
    const ports = { clock, random, log };
    const kubernetes = await startKubernetes(options.kubernetes, {
      ...{ dir, host, port, identity, kinds: converting, ...ports },
      ...(options.onRepair && { onRepair: options.onRepair }),
    });
    closers.push(() => kubernetes.close());
    const { transport, url, died } = kubernetes;
    const client = createClient(transport, { clock, random, log });
    const stopping = new AbortController();
    const installation = { client, clock, signal: stopping.signal };
    await ensureNamespace(client, DEFAULT_NAMESPACE);
    // The embedded API converts by itself; a real one asks, and what it holds from an earlier start names a port that is gone.
    const way = { host: LOOPBACK, port: 0, url: (at: number) => `https://${LOOPBACK}:${at}` };
    const settings = { kinds: converting, namespace: DEFAULT_NAMESPACE, ...way };
    const conversion =
      options.kubernetes === "real" ? await serveConversion({ client, clock, log }, settings) : undefined;
    closers.push(async () => conversion?.close());
    await conversion?.prepare();
    // Before what stands in for other systems brings stubs of the same kinds.
    const installed = systemsToRun(DEFAULT_SYSTEMS, { ...options.of, ...onLaptop(options.of) });
    await installKinds(installed, installation, kinds);

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
      counterparts: options.counterparts,
      dir,
    });
    closers.push(() => metal.close());
    await conversion?.start();
    await options.onServing?.({ url, identity, metal });
    const own = await ownHardware(options, { client, clock, random, firmware: metal.firmware });
    closers.push(own.close);
    let outputs: MachineOutputs = {};
    if (options.hasOperator !== false) {
      // One `up` at a time has this folder: what an earlier one left leading is taken over at once, under the same name.
      const identity = `up_${await kept(dir, "operator-identity", () => uuid(random))}`;
      const parts = { transport, clock, random, http, metal, joinToken, own: own.settings, identity };
      const { operator, closeBoot } = await startOperator(options, parts);
      closers.push(closeBoot);
      ({ outputs } = operator);
      const isInstalled = ({ name }: Pick<System, "name">): boolean => installed.some((one) => one.name === name);
      const further = operator.systems.filter((system) => !isInstalled(system));
      await installKinds(further, installation, []);
      await operator.prepare(stopping.signal);
      closers.push(() => operator.closed());
      await operator.manager.start(stopping.signal);
      closers.push(() => operator.manager.stop());
      await operator.manager.whenReady();
    }
    own.begin();
    return { url, identity, client, transport, metal, outputs, died, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The operator's own, where its Secret is. */
async function ensureNamespace(client: Client, name: string): Promise<void> {
  try {
    await client.create(Namespace, { metadata: { name } });
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) throw error;
  }
}

interface Parts {
  transport: Transport;
  clock: Clock;
  random: Random;
  http: Http;
  metal: SimulatedMetal;
  joinToken: string;
  /** Under which it leads. */
  identity: string;
  /** Settings of the systems that serve machines of the user's own. */
  own: SystemSettings;
}

/** Makes the machines that are to stand in for a user's own, and what the systems that serve them are set to. */
async function ownHardware(
  { hardware = {}, log, speed }: LaptopOptions,
  ports: Omit<HardwarePorts, "log" | "speed">,
): Promise<{ settings: SystemSettings; begin(): void; close(): Promise<void> }> {
  const made = await Promise.all(
    Object.entries(hardware).map(async ([system, make]) => ({ system, own: await make({ ...ports, log, speed }) })),
  );
  return {
    settings: Object.fromEntries(made.map(({ system, own }) => [system, own.settings])),
    begin() {
      for (const { own } of made) own.begin();
    },
    close: () =>
      closeAll(
        made.map(
          ({ own }) =>
            () =>
              own.close(),
        ),
      ),
  };
}

async function startOperator(
  { log, secrets, host, of }: LaptopOptions,
  { transport, clock, random, http, metal, joinToken, own: ownSettings, identity }: Parts,
): Promise<{ operator: Operator; closeBoot: () => Promise<void> }> {
  // The boot service's address is part of what machines get from the operator, so its socket comes first.
  let answer: Operator["boot"] | undefined;
  const boot = await serveHttp(async (request) => await answer!(request), { ...BOOT_LIMITS, host });
  const ports = {
    transport,
    clock,
    random,
    log,
    http: () => http,
    readNodeFile: async () => undefined,
    secrets,
    openWorkload: metal.controlPlanes.open,
  };
  const own = settingsFrom({
    TOKEN: joinToken,
    EQUINIX_ENDPOINT: metal.equinix.url,
    LATITUDE_ENDPOINT: metal.latitude.url,
  });
  const operator = createOperator(ports, {
    namespace: DEFAULT_NAMESPACE,
    secret: DEFAULT_SECRET,
    of: { ...of, ...onLaptop(of), ...own, ...ownSettings },
    bootUrl: boot.url,
    pollMs: POLL_MS,
    // An operator that is started beside this one waits.
    leaderElection: { namespace: DEFAULT_NAMESPACE, identity },
  });
  answer = operator.boot;
  return { operator, closeBoot: () => boot.close() };
}

/** What systems run with here, where nothing else is said. */
function onLaptop(of: SystemSettings = {}): SystemSettings {
  return Object.fromEntries(
    SYSTEMS.flatMap(({ name, onLaptop: usual }) => (usual === undefined ? [] : [[name, { ...usual, ...of[name] }]])),
  );
}

/** A value that is made once and found again; kept readable by its owner only. */
async function kept(dir: string | undefined, name: string, make: () => string): Promise<string> {
  if (dir === undefined) return make();
  const file = join(dir, name);
  privateFile(file, { ifThere: true });
  const held = await textOf(file);
  if (held !== "") return held;
  const value = make();
  await replacePrivateFile(file, value);
  return value;
}
