/**
 * The whole of Slipway in virtual time: a Kubernetes API (the embedded one, unless `api.ts` was told of another), the operator,
 * simulated clouds and a simulated Harvester cluster. A test says what happens to it and reads what a user would see.
 */
import { readFile } from "node:fs/promises";
import { type Http, type HttpHandler, type Log, quietLog, type Random, Secrets, seededRandom } from "@slipway/base";
import { jsonLog } from "@slipway/base/json-log";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Client, createClient, type KubeObject, type Transport } from "@slipway/kube";
import { Event, Node, Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { installCrds } from "../../src/kinds/install.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { EXAMPLE_KEYS, seedNetworks } from "../../src/laptop/metal.ts";
import { KINDS } from "../../src/operator/kinds.ts";
import { createOperator, type Operator } from "../../src/operator/operator.ts";
import { settingsFrom } from "../../src/operator/settings.ts";
import { createEquinixSim, type EquinixSim } from "../../src/sim/equinix/equinix-sim.ts";
import type { EquinixSimOptions } from "../../src/sim/equinix/options.ts";
import { type FaultRates, withFaults } from "../../src/sim/faults.ts";
import { createFirmware, type FirmwareOptions } from "../../src/sim/firmware/firmware.ts";
import { createLatitudeSim, type LatitudeSim } from "../../src/sim/latitude/latitude-sim.ts";
import { simNetwork } from "../../src/sim/network.ts";
import { type SeedOptions, seedSite } from "../../src/sim/site/seed.ts";
import { createHarvesterSite, type Site } from "../../src/sim/site/site.ts";
import { beginApi, type WorldApi } from "./api.ts";
import { equinixCloud, LATITUDE_MAPPING, latitudeCloud, METROS, PLAN, type TestCloud } from "./cloud.ts";
import { type Death, Mortal } from "./mortal.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const BOOT_URL = "https://slipway.example";
export const VIP = "10.20.30.40";
export const JOIN_TOKEN = "join-token-of-the-test-cluster";

export interface WorldOptions {
  seed?: number;
  /** Which provider `pool` buys at. Equinix Metal unless said. */
  provider?: TestCloud["name"];
  equinix?: Partial<EquinixSimOptions>;
  firmware?: Pick<FirmwareOptions, "hangs" | "installFails">;
  site?: Partial<SeedOptions>;
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
  log?: Log;
}

export interface RunningOperator extends Operator {
  mortal: Mortal;
}

export class World {
  readonly clock = new VirtualClock(undefined, () => this.api?.outside());
  readonly random: Random;
  readonly secrets = new Secrets();
  readonly logged: string[] = [];
  readonly #options: WorldOptions;
  #network = simNetwork();
  #operators: RunningOperator[] = [];
  api!: WorldApi;
  client!: Client;
  site!: Site;
  /** The provider that `pool` buys at. */
  cloud!: TestCloud;
  equinix!: EquinixSim;
  latitude!: LatitudeSim;

  private constructor(options: WorldOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 1);
  }

  /** A world with a seeded cluster, clouds and CRDs; the operator is started by `operator()`. */
  static async create(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    await world.#begin();
    return world;
  }

  async #begin(): Promise<void> {
    const { clock, random } = this;
    const log = quietLog;
    this.api = await beginApi(clock, random);
    this.client = createClient(this.api.transport("administrator"), { clock, random, log });
    const without = this.#options.without ?? [];
    await this.install(KINDS.filter((versions) => !versions.some((kind) => without.includes(kind))));
    const seed = { vip: VIP, version: "v1.8.1", vipMode: "static" as const, ...this.#options.site };
    await this.whileTimePasses(seedSite(this.client, seed));
    this.site = createHarvesterSite({ client: this.client, clock, joinToken: JOIN_TOKEN, vip: VIP });
    await this.whileTimePasses(this.site.start());
    const firmware = createFirmware({
      http: this.#network.http,
      clock,
      random,
      log,
      site: this.site,
      ...this.#options.firmware,
    });
    const shared = { clock, random, firmware };
    const { token, project } = EXAMPLE_KEYS.equinix;
    this.equinix = createEquinixSim({ ...shared, token, projects: [project], ...this.#options.equinix });
    this.latitude = createLatitudeSim({ ...shared, ...EXAMPLE_KEYS.latitude });
    this.cloud = this.#options.provider === "latitude" ? latitudeCloud(this.latitude) : equinixCloud(this.equinix);
    this.#network.serve("https://api.equinix.com", this.equinix.handle);
    this.#network.serve("https://api.latitude.sh", this.latitude.handle);
    this.#network.serve(BOOT_URL, async (request) => {
      // As a Service does: to whichever replica answers.
      const replica = this.#operators.findLast(({ mortal }) => mortal.awake);
      if (replica !== undefined) return await replica.boot(request);
      throw new Error("nobody serves boots");
    });
    await seedNetworks(this.equinix);
    await this.apply("examples/harvester/secret.yaml");
    if (this.cloud.name === "latitude") await this.#nameLatitude();
  }

  /** The account at Latitude, with its own words for the tests' plan and metros. */
  async #nameLatitude(): Promise<void> {
    const { token, project } = EXAMPLE_KEYS.latitude;
    const metadata = { name: "latitude", namespace: "harvester-system" };
    const stringData = { METAL_AUTH_TOKEN: token, PROJECT_ID: project.id };
    await this.whileTimePasses(this.client.create(Secret, { metadata, stringData }));
    const spec = { type: "latitude" as const, credentialsSecretRef: { name: "latitude" }, ...LATITUDE_MAPPING };
    await this.whileTimePasses(this.client.create(MachineProvider, { metadata: { name: "latitude" }, spec }));
  }

  /** The Secret of the account that `pool` buys with. */
  get accountSecret(): { namespace: string; name: string } {
    return { namespace: "harvester-system", name: this.cloud.name === "latitude" ? "latitude" : "equinix-addon" };
  }

  /** Installs these kinds' definitions, each with all its versions. */
  async install(kinds: readonly (readonly Kind[])[]): Promise<void> {
    await this.whileTimePasses(installCrds(this.client, this.clock, new AbortController().signal, kinds));
  }

  /** Starts an operator process; `death` says at which effect it dies. `election`: with a Lease, so that several may run. */
  async operator(of: { death?: Death; election?: boolean } = {}): Promise<RunningOperator> {
    const mortal = new Mortal(of.death);
    const { clock, random, secrets } = this;
    const log =
      this.#options.log ??
      jsonLog({ level: "debug", secrets, destination: { write: (line) => void this.logged.push(line) } });
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
      },
      {
        namespace: "harvester-system",
        secret: "equinix-addon",
        of: settingsFrom(this.#options.joinToken === false ? {} : { TOKEN: JOIN_TOKEN }),
        bootUrl: BOOT_URL,
        pollMs: 15 * SECOND,
        leaderElection: of.election ? { namespace: "harvester-system" } : false,
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

  /** A server of somebody else's on the machines' network. */
  serve(origin: string, handler: HttpHandler): void {
    this.#network.serve(origin, handler);
  }

  async apply(...files: string[]): Promise<void> {
    for (const file of files) {
      const objects = loadAll(await readFile(file, "utf8")) as KubeObject[];
      await this.whileTimePasses(applyObjects(this.client, objects));
    }
  }

  async pool(name: string, spec: InstancePool["spec"] | object): Promise<InstancePool> {
    const providerRef = this.cloud.name === "latitude" ? { providerRef: { name: "latitude" } } : {};
    const plain = { plan: PLAN, metro: METROS[0], billingCycle: "hourly", count: 1, ...providerRef, ...spec };
    return await this.whileTimePasses(this.client.create(InstancePool, { metadata: { name }, spec: plain }));
  }

  async pools(): Promise<InstancePool[]> {
    return (await this.whileTimePasses(this.client.list(InstancePool))).items;
  }

  async instances(): Promise<Instance[]> {
    return (await this.whileTimePasses(this.client.list(Instance))).items;
  }

  async nodes(): Promise<Node[]> {
    return (await this.whileTimePasses(this.client.list(Node))).items;
  }

  async events(): Promise<Event[]> {
    return (await this.whileTimePasses(this.client.list(Event))).items;
  }

  /** Every pool complete, every machine a Node. */
  async converged(): Promise<boolean> {
    const [pools, instances] = [await this.pools(), await this.instances()];
    return (
      pools.every(
        (pool) => pool.status?.status === "ready" && pool.status.observedGeneration === pool.metadata.generation,
      ) &&
      instances.every(
        (instance) => instance.status?.status === "managed" && instance.metadata.deletionTimestamp === undefined,
      )
    );
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
    const lines = [...(await this.pools()), ...(await this.instances())].map(({ kind, metadata, status }) => {
      const ready = status?.conditions?.find((c) => c.type === "Ready");
      return `${kind} ${metadata.name}${metadata.deletionTimestamp ? " (deleting)" : ""}: ${status?.status} ${ready?.reason}: ${ready?.message}`;
    });
    const devices = this.cloud.machines().map((m) => `machine ${m.id} ${m.hostname}${m.wanted ? "" : ": leaving"}`);
    return [...lines, ...devices, ...this.logged.slice(-20)].join("\n");
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
    this.equinix.close();
    this.latitude.close();
    this.site.close();
    await this.api.close();
  }
}
