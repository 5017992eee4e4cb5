/** The world of the tests of Harvester's pools: a cluster that says what happens in it, and pools at either provider. */
import { Node, Secret } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { systemsOf } from "../../src/operator/operator.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import type { SeedOptions } from "../../src/sim/site/seed.ts";
import type { Site } from "../../src/sim/site/site.ts";
import { startSite } from "../../src/systems/harvester/simulated.ts";
import { equinixCloud, LATITUDE_MAPPING, latitudeCloud, METROS, PLAN, type TestCloud } from "./cloud.ts";
import type { Mortal } from "./mortal.ts";
import { OwnRack, type Servers } from "./own-rack.ts";
import { type RunningOperator, World, type WorldOptions } from "./world.ts";

export interface HarvesterWorldOptions extends Omit<WorldOptions, "counterparts"> {
  /** Which provider `pool` buys at. Default: Equinix Metal. */
  provider?: TestCloud["name"];
  /** Of its own, where that is the provider. */
  servers?: Servers;
  site?: Partial<SeedOptions>;
}

/** A world with a simulated Harvester cluster and one provider. */
export class HarvesterWorld extends World {
  site!: Site;
  /** The provider that `pool` buys at. */
  cloud!: TestCloud;
  readonly #provider: TestCloud["name"];
  readonly #servers: Servers | undefined;
  #own: OwnRack | undefined;

  constructor({ provider = "equinix", servers, site: seed, ...options }: HarvesterWorldOptions) {
    const start = async (ports: Parameters<typeof startSite>[0]): Promise<Site> => {
      this.site = await startSite(ports, seed);
      return this.site;
    };
    super({
      ...(provider === "inventory" && { systems: systemsOf(["harvester", "providers", "netboot"]) }),
      ...options,
      counterparts: [{ title: "Harvester", start, leftOvers: async () => [] }],
    });
    this.#provider = provider;
    this.#servers = servers;
  }

  protected override async begin(): Promise<void> {
    await super.begin();
    await this.apply("examples/harvester/secret.yaml");
    if (this.#provider === "inventory") {
      this.#own = await OwnRack.begin(this, this.#servers);
      this.cloud = this.#own.cloud;
    } else this.cloud = this.#provider === "latitude" ? latitudeCloud(this.latitude) : equinixCloud(this.equinix);
    if (this.cloud.name === "latitude") await this.#nameLatitude();
  }

  /** Of a world whose machines are its own. */
  get own(): OwnRack {
    if (this.#own === undefined) throw new Error("this world buys its machines");
    return this.#own;
  }

  protected override settings(process: Mortal): SystemSettings {
    return this.#own === undefined ? {} : { netboot: this.#own.settings(process) };
  }

  /** Where machines are the world's own, they are available when it resolves, but for an operator that is to die. */
  override async operator(of: Parameters<World["operator"]>[0] = {}): Promise<RunningOperator> {
    const operator = await super.operator(of);
    if (this.#own !== undefined && of.death === undefined) await this.#own.untilAvailable();
    return operator;
  }

  override async close(): Promise<void> {
    await this.#own?.close();
    await super.close();
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
  get accountSecret(): TestCloud["secret"] {
    return this.cloud.secret;
  }

  async pool(name: string, spec: InstancePool["spec"] | object): Promise<InstancePool> {
    const { providerRef } = this.cloud;
    const at = providerRef === undefined ? {} : { providerRef };
    const plain = { plan: PLAN, metro: METROS[0], billingCycle: "hourly", count: 1, ...at, ...spec };
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
}
