/**
 * The whole of Slipway in virtual time: a Kubernetes API (the embedded one, unless `api.ts` names another), the operator, simulated clouds
 * and what stands in for the systems' surroundings. A test says what happens to it and reads what a user would see. What a system's own tests
 * need more is a world of their own on top of this one (`harvester-world.ts`).
 */
import { readFile } from "node:fs/promises";
import { type Http, type HttpHandler, type Log, quietLog, type Random, Secrets, seededRandom } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, type Condition, createClient, type KubeObject, type Transport } from "@slipway/kube";
import { Event } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { installCrds } from "../../src/kinds/install.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { type SimulatedMetal, startMetal } from "../../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../src/operator/defaults.ts";
import { ownKinds } from "../../src/operator/kinds.ts";
import { createOperator, type Operator, type OperatorPorts, systemsOf } from "../../src/operator/operator.ts";
import { type SystemSettings, settingsFrom } from "../../src/operator/settings.ts";
import type { EquinixSim } from "../../src/sim/equinix/equinix-sim.ts";
import type { EquinixSimOptions } from "../../src/sim/equinix/options.ts";
import { type FaultRates, withFaults } from "../../src/sim/faults.ts";
import type { FirmwareOptions } from "../../src/sim/firmware/firmware.ts";
import type { Firmware } from "../../src/sim/hardware.ts";
import type { LatitudeSim } from "../../src/sim/latitude/latitude-sim.ts";
import { simNetwork } from "../../src/sim/network.ts";
import type { Counterpart } from "../../src/systems/counterpart.ts";
import type { System } from "../../src/systems/system.ts";
import { beginApi, type WorldApi } from "./api.ts";
import { type Death, Mortal } from "./mortal.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const BOOT_URL = "https://slipway.example";
export const VIP = "10.20.30.40";
export const JOIN_TOKEN = "join-token-of-the-test-cluster";

export interface WorldOptions {
  seed?: number;
  /** Those that run. Default: those that run by default. */
  systems?: readonly System[];
  /** The clusters that machines join. Default: what stands in for each system's surroundings. */
  counterparts?: readonly Counterpart[];
  equinix?: Partial<EquinixSimOptions>;
  firmware?: Pick<FirmwareOptions, "hangs" | "installFails">;
  /** Kinds whose definitions are not installed: see `install`. */
  without?: readonly Kind[];
  /** False: the operator's environment has no join token. */
  joinToken?: boolean;
  /** Faults on the operator's way to the clouds. */
  faults?: FaultRates;
  /** Wraps the operator's way to the clouds. */
  clouds?: (inner: Http) => Http;
  /** Wraps the operator's way to the Kubernetes API. */
  transport?: (inner: Transport) => Transport;
  /** Default: everything is in `logged`. */
  log?: Log | ((secrets: Secrets) => Log);
}

export interface RunningOperator extends Operator {
  mortal: Mortal;
}

/** An embedded API, simulated clouds and operators in one virtual time. */
export class World {
  readonly clock = new VirtualClock(undefined, () => this.api?.outside() ?? this.#outside());
  /** What works on threads, too, for which virtual time waits. */
  readonly waitsFor: { outside(): Promise<void> | undefined }[] = [];
  readonly random: Random;
  readonly secrets = new Secrets();
  readonly logged: string[] = [];
  readonly systems: readonly System[];
  readonly #options: WorldOptions;
  #network = simNetwork();
  #operators: RunningOperator[] = [];
  #metal!: SimulatedMetal;
  api!: WorldApi;
  client!: Client;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.systems = options.systems ?? systemsOf();
    this.random = seededRandom(options.seed ?? 1);
  }

  /** A world with the systems' kinds and surroundings, and clouds; the operator is started by `operator()`. */
  static async create<Options extends WorldOptions, W extends World>(
    this: new (
      options: Options,
    ) => W,
    options: Options = {} as Options,
  ): Promise<W> {
    const world = new this(options);
    await world.begin();
    return world;
  }

  get equinix(): EquinixSim {
    return this.#metal.equinix.sim;
  }

  get latitude(): LatitudeSim {
    return this.#metal.latitude.sim;
  }

  /** Control planes that simulated machines have begun. */
  get controlPlanes(): SimulatedMetal["controlPlanes"] {
    return this.#metal.controlPlanes;
  }

  get firmware(): Firmware {
    return this.#metal.firmware;
  }

  /** What is set of each system in an operator's process, beside the usual. */
  protected settings(_process: Mortal): SystemSettings {
    return {};
  }

  /** What an operator's process is given beside the usual. */
  protected ports(_process: Mortal): Partial<OperatorPorts> {
    return {};
  }

  protected async begin(): Promise<void> {
    const { clock, random } = this;
    const { without = [], firmware, equinix, counterparts = await standIns(this.systems) } = this.#options;
    const log = quietLog;
    const network = this.#network;
    this.api = await beginApi(clock, random);
    this.client = createClient(this.api.transport("administrator"), { clock, random, log });
    const kinds = ownKinds(this.systems);
    await this.install(kinds.filter((versions) => !versions.some((kind) => without.includes(kind))));
    const metal = startMetal({
      ...{ client: this.client, clock, random, log, http: this.#network.http },
      ...{ vip: VIP, joinToken: JOIN_TOKEN, counterparts },
      async serve(origin, handler) {
        const stop = network.serve(origin, handler);
        return { url: origin, close: async () => stop() };
      },
      ...(equinix && { equinix }),
      ...(firmware && { firmware }),
    });
    this.#metal = await this.whileTimePasses(metal);
    this.#network.serve(BOOT_URL, async (request) => {
      // As a Service does: to whichever replica answers.
      const replica = this.#operators.findLast(({ mortal }) => mortal.awake);
      if (replica !== undefined) return await replica.boot(request);
      throw new Error("nobody serves boots");
    });
  }

  #outside(): Promise<void> | undefined {
    for (const each of this.waitsFor) {
      const change = each.outside();
      if (change !== undefined) return change;
    }
    return undefined;
  }

  get #log(): Log {
    const { secrets } = this;
    const { log } = this.#options;
    if (typeof log === "function") return log(secrets);
    return log ?? jsonLog({ level: "debug", secrets, destination: { write: (line) => void this.logged.push(line) } });
  }

  /** Installs these kinds' definitions, each with all its versions. */
  async install(kinds: readonly (readonly Kind[])[]): Promise<void> {
    await this.whileTimePasses(installCrds(this.client, this.clock, new AbortController().signal, kinds));
  }

  /** Starts an operator process; `death` says at which effect it dies. `election`: with Leases, so that several may run; `shards`: and share the work. */
  async operator(of: { death?: Death; election?: boolean; shards?: number } = {}): Promise<RunningOperator> {
    const mortal = new Mortal(of.death);
    const { clock, random, secrets } = this;
    const log = this.#log;
    const direct = this.api.transport("operator");
    const toApi = this.#options.transport?.(direct) ?? direct;
    const faulty =
      this.#options.faults === undefined
        ? this.#network.http
        : withFaults(this.#network.http, { random, clock, rates: this.#options.faults });
    const http: Http = mortal.http(this.#options.clouds?.(faulty) ?? faulty);
    const operator = createOperator(
      {
        transport: mortal.transport(toApi),
        clock,
        random,
        log,
        http: () => http,
        readNodeFile: async () => undefined,
        secrets,
        openWorkload: (connection) => this.controlPlanes.open(connection),
        ...this.ports(mortal),
      },
      {
        namespace: DEFAULT_NAMESPACE,
        secret: DEFAULT_SECRET,
        systems: this.systems,
        of: {
          ...settingsFrom(this.#options.joinToken === false ? {} : { TOKEN: JOIN_TOKEN }),
          ...this.settings(mortal),
        },
        bootUrl: BOOT_URL,
        pollMs: 15 * SECOND,
        leaderElection:
          of.election || of.shards !== undefined ? { namespace: DEFAULT_NAMESPACE, shards: of.shards ?? 1 } : false,
      },
    );
    const running = { ...operator, mortal };
    this.#operators.push(running);
    const started = operator.manager.start();
    if (of.death === undefined) await this.whileTimePasses(started);
    else started.catch(() => {});
    return running;
  }

  /** Kills the operator that was started last, without a word to anybody. */
  kill(): void {
    this.#operators.at(-1)?.mortal.kill();
  }

  /** A foreign server on the machines' network. */
  serve(origin: string, handler: HttpHandler): void {
    this.#network.serve(origin, handler);
  }

  async apply(...files: string[]): Promise<void> {
    for (const file of files) {
      const objects = loadAll(await readFile(file, "utf8")) as KubeObject[];
      await this.whileTimePasses(
        applyObjects({ client: this.client, transport: this.api.transport("administrator") }, objects),
      );
    }
  }

  async events(): Promise<Event[]> {
    return (await this.whileTimePasses(this.client.list(Event))).items;
  }

  /** Lets time pass until `holds`, looking every `stepMs`; fails with what was missing and where everything stands. */
  async until(
    what: string,
    holds: () => Promise<boolean> | boolean,
    forMs = 2 * HOUR,
    stepMs = 5 * SECOND,
  ): Promise<void> {
    const end = this.clock.monotonic() + forMs;
    while (!(await holds())) {
      if (this.clock.monotonic() >= end)
        throw new Error(`not within ${forMs / MINUTE} minutes: ${what}\n${await this.story()}`);
      await this.clock.run(stepMs);
    }
  }

  /** Where everything stands, for the person who reads a failed test. */
  async story(): Promise<string> {
    const lines: string[] = [];
    for (const [kind] of ownKinds(this.systems)) {
      const { items } = await this.whileTimePasses(this.client.list(kind!));
      for (const { metadata, status } of items as (KubeObject & {
        status?: { status?: string; conditions?: Condition[] };
      })[]) {
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        const name = `${kind!.kind} ${metadata.name}${metadata.deletionTimestamp ? " (deleting)" : ""}`;
        lines.push(`${name}: ${status?.status ?? ""} ${ready?.reason}: ${ready?.message}`);
      }
    }
    for (const { id, hostname, state } of this.equinix.devices()) lines.push(`machine ${id} ${hostname}: ${state}`);
    for (const { id, hostname, leaving } of this.latitude.servers())
      lines.push(`machine ${id} ${hostname}${leaving ? ": leaving" : ""}`);
    return [...lines, ...this.logged.slice(-20)].join("\n");
  }

  /** Awaits a promise whose work may need time to pass. */
  async whileTimePasses<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    if (await this.clock.run(10 * MINUTE, () => settled)) return await done;
    throw new Error(`a call did not end within 10 minutes\n${this.logged.slice(-10).join("\n")}`);
  }

  async close(): Promise<void> {
    for (const { manager, mortal } of this.#operators) {
      mortal.kill();
      void manager.stop();
    }
    await this.#metal.close();
    await this.api.close();
  }
}

/** What stands in for the surroundings of these systems. */
async function standIns(systems: readonly System[]): Promise<Counterpart[]> {
  const loaded = await Promise.all(systems.map((system) => system.simulated?.()));
  return loaded.flatMap((simulated) => simulated?.counterpart ?? []);
}
