/** The light core of Cluster API in virtual time, with a provider for tests. */
import type { TestContext } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { CLUSTER_API_KINDS } from "../../src/kinds/cluster-api/kinds.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../src/kinds/cluster-api/machine-set.ts";
import type { OperatorPorts } from "../../src/operator/operator.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import { clusterApi } from "../../src/systems/cluster-api/system.ts";
import {
  PROVIDER_KINDS,
  type ProviderOptions,
  SimBootstrapTemplate,
  SimCluster,
  SimControlPlane,
  SimMachineTemplate,
  TestProvider,
} from "./cluster-api-provider.ts";
import type { Mortal } from "./mortal.ts";
import { MINUTE, World, type WorldOptions } from "./world.ts";

export const NAMESPACE = "default";
export const CLUSTER = "quay";

export interface CoreOptions extends WorldOptions {
  provider?: ProviderOptions;
  /** Settings of systems beside the core. */
  of?: SystemSettings;
}

export class CoreWorld extends World {
  provider!: TestProvider;
  readonly #provider: ProviderOptions;
  readonly #of: SystemSettings;

  constructor(options: CoreOptions) {
    super({ systems: [clusterApi], counterparts: [], ...options });
    this.#provider = options.provider ?? {};
    this.#of = options.of ?? {};
  }

  /** A world with an operator and a cluster of the test provider's, closed when the test ends. */
  static async started(t: TestContext, options: CoreOptions = {}): Promise<CoreWorld> {
    const world = await CoreWorld.create(options);
    t.after(() => world.close());
    await world.operator();
    await world.make();
    return world;
  }

  protected override settings(): SystemSettings {
    return { "cluster-api": { core: "light" }, ...this.#of };
  }

  protected override ports(mortal: Mortal): Partial<OperatorPorts> {
    return { openWorkload: (_, cluster) => mortal.transport(this.provider.open(cluster)) };
  }

  protected override async begin(): Promise<void> {
    await super.begin();
    await this.install(CLUSTER_API_KINDS);
    await this.install(PROVIDER_KINDS);
    this.provider = new TestProvider(this.client, this.clock, this.random, this.#provider);
    this.provider.start();
  }

  override async close(): Promise<void> {
    await super.close();
    await this.provider.close();
  }

  /** Makes the cluster with its infrastructure, control plane and templates. */
  async make(): Promise<void> {
    const { client } = this;
    const metadata = (name: string) => ({ namespace: NAMESPACE, name });
    await this.whileTimePasses(
      (async () => {
        await client.create(SimCluster, { metadata: metadata(CLUSTER), spec: {} });
        await client.create(SimControlPlane, { metadata: metadata(CLUSTER), spec: { version: "v1.36.1" } });
        for (const name of ["a", "b"]) {
          await client.create(SimMachineTemplate, {
            metadata: metadata(name),
            spec: { template: { spec: { plan: name } } },
          });
          await client.create(SimBootstrapTemplate, { metadata: metadata(name), spec: { template: { spec: {} } } });
        }
        await client.create(Cluster, {
          metadata: metadata(CLUSTER),
          spec: {
            infrastructureRef: { apiGroup: SimCluster.group, kind: "SimCluster", name: CLUSTER },
            controlPlaneRef: { apiGroup: SimControlPlane.group, kind: "SimControlPlane", name: CLUSTER },
          },
        });
      })(),
    );
  }

  /** Makes a MachineDeployment. */
  async deploy(name: string, replicas: number, more: object = {}, template: object = {}): Promise<void> {
    await this.whileTimePasses(
      this.client.create(MachineDeployment, {
        metadata: { namespace: NAMESPACE, name },
        spec: {
          ...{ clusterName: CLUSTER, replicas, selector: {} },
          template: { metadata: {}, spec: { ...machineSpec("a"), ...template } },
          ...more,
        },
      } as never),
    );
  }

  async patch(name: string, body: object): Promise<void> {
    const ref = { namespace: NAMESPACE, name };
    await this.whileTimePasses(this.client.patch(MachineDeployment, ref, { type: "merge", body }));
  }

  async machines(): Promise<Machine[]> {
    return (await this.whileTimePasses(this.client.list(Machine))).items;
  }

  async sets(): Promise<MachineSet[]> {
    return (await this.whileTimePasses(this.client.list(MachineSet))).items;
  }

  async deployment(name: string): Promise<MachineDeployment> {
    return await this.whileTimePasses(this.client.get(MachineDeployment, { namespace: NAMESPACE, name }));
  }

  async cluster(): Promise<Cluster | undefined> {
    return await this.whileTimePasses(this.client.find(Cluster, { namespace: NAMESPACE, name: CLUSTER }));
  }

  /** Lets time pass until the deployment has so many Machines of its template, all available, and no others. */
  async untilRolledOut(name: string): Promise<void> {
    const isDone = async (): Promise<boolean> => {
      const { spec, status, metadata } = await this.deployment(name);
      const all = [status?.replicas, status?.upToDateReplicas, status?.availableReplicas];
      const sets = (await this.sets()).filter((set) =>
        set.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid),
      );
      return (
        all.every((count) => (count ?? 0) === spec.replicas) && sets.filter((set) => set.spec.replicas > 0).length <= 1
      );
    };
    await this.until(`${name} rolled out`, isDone, 30 * MINUTE);
  }

  /** Where the core's objects stand. */
  override async story(): Promise<string> {
    const lines: string[] = [];
    for (const resource of [Cluster, MachineDeployment, MachineSet, Machine]) {
      const { items } = await this.whileTimePasses(this.client.list(resource as typeof Machine));
      for (const { metadata, spec, status } of items) {
        const { deprecated: _, ...rest } = (status ?? {}) as Record<string, unknown>;
        const conditions = ((rest.conditions ?? []) as { type: string; status: string; message: string }[])
          .map(({ type, status: is, message }) => `${type}=${is}${message ? `(${message})` : ""}`)
          .join(" ");
        lines.push(
          `${resource.kind} ${metadata.name}${metadata.deletionTimestamp ? " (deleting)" : ""} ${JSON.stringify({ replicas: (spec as { replicas?: number }).replicas, ...rest, conditions: undefined, nodeInfo: undefined })} ${conditions}`,
        );
      }
    }
    return [...lines, ...this.logged.slice(-10)].join("\n");
  }
}

/** Specification of a Machine from the templates of this name. */
export const machineSpec = (template: string) => ({
  clusterName: CLUSTER,
  version: "v1.36.1",
  bootstrap: { configRef: { apiGroup: SimBootstrapTemplate.group, kind: "SimBootstrapTemplate", name: template } },
  infrastructureRef: { apiGroup: SimMachineTemplate.group, kind: "SimMachineTemplate", name: template },
});

/** Status of a condition. */
export const conditionOf = (object: KubeObject | undefined, type: string) =>
  (
    object as
      | { status?: { conditions?: { type: string; status: string; reason: string; message: string }[] } }
      | undefined
  )?.status?.conditions?.find((condition) => condition.type === type);
