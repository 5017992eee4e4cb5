/** Lives of KamajiControlPlanes and of workers' KubeadmConfigs in virtual time, over simulated tenants. What Cluster API's core does, the test does. */
import assert from "node:assert/strict";
import { isFault, quietLog as log, type Random, seededRandom } from "@slipway/base";
import {
  type Client,
  controllerReference,
  createClient,
  type KubeObject,
  ownerReference,
  type Resource,
  type Transport,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { Cluster, ClusterV1beta1 } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine, MachineV1beta1 } from "../../src/kinds/cluster-api/machine.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../src/kinds/kamaji-control-plane/kinds.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { KUBEADM_KINDS } from "../../src/kinds/kubeadm/kinds.ts";
import { KubeadmConfig } from "../../src/kinds/kubeadm/kubeadm-config.ts";
import { PACKET_KINDS } from "../../src/kinds/packet/kinds.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { ForeignProvider } from "../../src/systems/foreign-provider.ts";
import { kamajiControlPlaneController } from "../../src/systems/kamaji-control-plane/controller.ts";
import { kubeadmConfigController } from "../../src/systems/kubeadm-bootstrap/controller.ts";
import { UPSTREAM_SIGN } from "../../src/systems/kubeadm-bootstrap/names.ts";
import { kubeconfigOf } from "../../src/workload/kubeconfig-secret.ts";
import { WorkloadClusters } from "../../src/workload/workload-clusters.ts";
import { type Death, interruptible, type Mortal, successor } from "./mortal.ts";
import { MINUTE, NAMESPACE, TenantLifeWorld } from "./tenant-life-world.ts";

const CORE = [
  [Cluster, ClusterV1beta1],
  [Machine, MachineV1beta1],
] as unknown as readonly (readonly Kind[])[];
const NAME = "a";
const at = (name: string) => ({ namespace: NAMESPACE, name });
const LONG = 6 * 60 * MINUTE;

/** Where a control plane's tenant is in another cluster: the management API, and what the control plane says of that cluster. */
export interface Elsewhere {
  client: Client;
  deployment: object;
}

/** Where a worker's data, its token and the Cluster's Secrets are in. */
export class ControlPlaneLife {
  readonly world: TenantLifeWorld;
  readonly client: Client;
  readonly #deployment: object | undefined;

  /** The tenant runs in the world; without `elsewhere` so does everything else. */
  constructor(world: TenantLifeWorld, elsewhere?: Elsewhere) {
    this.world = world;
    this.client = elsewhere?.client ?? world.client;
    this.#deployment = elsewhere?.deployment;
  }

  find<T extends KubeObject>(kind: Resource<T>, name: string): Promise<T | undefined> {
    return this.world.passing(this.client.find(kind, at(name)));
  }

  async apply(kind: Resource, name: string, spec: object, metadata: object = {}): Promise<void> {
    const apiVersion = `${kind.group}/${kind.version}`;
    const body = { apiVersion, kind: kind.kind, metadata: { ...metadata, ...at(name) }, spec };
    const patch = { type: "apply", body, fieldManager: "user", force: true } as const;
    await this.world.passing(this.client.patch(kind, at(name), patch));
  }

  /** The Cluster with all that it names, owned as Cluster API's core has them. */
  async make(): Promise<void> {
    await this.apply(Cluster, NAME, {
      clusterNetwork: { services: { cidrBlocks: ["172.26.0.0/16"] } },
      controlPlaneRef: { apiGroup: KamajiControlPlane.group, kind: KamajiControlPlane.kind, name: NAME },
      infrastructureRef: { apiGroup: PacketCluster.group, kind: PacketCluster.kind, name: NAME },
    });
    const cluster = await this.world.passing(this.client.get(Cluster, at(NAME)));
    const metadata = {
      labels: { "cluster.x-k8s.io/cluster-name": NAME },
      ownerReferences: [ownerReference(Cluster, cluster)],
    };
    const managed = { annotations: { "cluster.x-k8s.io/managed-by": "kamaji" } };
    await this.apply(PacketCluster, NAME, { projectID: "p", metro: "sg" }, { ...metadata, ...managed });
    await this.plane("1.33.0", 1, metadata);
  }

  async plane(version: string, replicas: number, metadata?: object): Promise<void> {
    const held = metadata ?? (await this.find(KamajiControlPlane, NAME))!.metadata;
    const { labels, ownerReferences } = held as KubeObject["metadata"];
    const deployment = this.#deployment && { deployment: this.#deployment };
    const spec = { version, replicas, network: { serviceType: "LoadBalancer" }, addons: {}, ...deployment };
    await this.apply(KamajiControlPlane, NAME, spec, { labels, ownerReferences });
  }

  /** What the core reports of the Cluster once its control plane is there. */
  async provisioned(): Promise<void> {
    const { spec } = (await this.find(KamajiControlPlane, NAME))!;
    const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
    const patch = (body: object, more: object = {}) =>
      this.world.passing(this.client.patch(Cluster, at(NAME), { type: "merge", body }, more));
    await patch({ spec: { controlPlaneEndpoint: spec.controlPlaneEndpoint } });
    await patch({ status: { initialization } }, { subresource: "status" });
  }

  async worker(name: string): Promise<void> {
    const configRef = { apiGroup: KubeadmConfig.group, kind: KubeadmConfig.kind, name };
    const infrastructureRef = { apiGroup: PacketCluster.group, kind: "PacketMachine", name };
    await this.apply(Machine, name, {
      ...{ clusterName: NAME, version: "v1.33.0", bootstrap: { configRef }, infrastructureRef },
    });
    const machine = await this.world.passing(this.client.get(Machine, at(name)));
    const metadata = {
      labels: { "cluster.x-k8s.io/cluster-name": NAME },
      ownerReferences: [controllerReference(Machine, machine)],
    };
    await this.apply(KubeadmConfig, name, { joinConfiguration: { nodeRegistration: {} } }, metadata);
  }

  /** What the core reports of a Machine that has joined. */
  async joined(name: string): Promise<void> {
    const body = { status: { nodeRef: { name } } };
    await this.world.passing(this.client.patch(Machine, at(name), { type: "merge", body }, { subresource: "status" }));
  }

  /**
   * Bootstrap tokens in the tenant that let a machine in; undefined while it does not answer. One whose worker was deleted while the tenant was
   * away is left to its end, when kube-controller-manager removes it.
   */
  async tokens(): Promise<string[] | undefined> {
    const { clock, random } = this.world;
    const inside = createClient(tenantTransport(this.world), { clock, random, log });
    try {
      const { items } = await this.world.passing(inside.list(Secret, { namespace: "kube-system" }));
      const ends = ({ data }: Secret): number => Date.parse(Buffer.from(data?.expiration ?? "", "base64").toString());
      return items
        .filter((secret) => /token$/.test(secret.type ?? "") && ends(secret) > clock.now())
        .map(({ metadata }) => metadata.name);
    } catch (error) {
      if (isFault(error, "Unavailable", "LostAnswer", "Timeout")) return undefined;
      throw error;
    }
  }

  /** Ready at a version, with Secrets that hold what the tenant has. */
  async isReady(version: string): Promise<boolean> {
    const plane = await this.find(KamajiControlPlane, NAME);
    if (plane?.status?.ready !== true || plane.status.version !== `v${version}`) return false;
    const [tenant] = await this.world.tenants();
    const there = at(tenant?.status?.kubeconfig?.admin?.secretName ?? "none");
    const [own, ca, admin] = await Promise.all([
      this.find(Secret, `${NAME}-kubeconfig`),
      this.find(Secret, `${NAME}-ca`),
      this.world.passing(this.world.client.find(Secret, there)),
    ]);
    return ca !== undefined && own?.data?.value !== undefined && own.data.value === admin?.data?.["admin.conf"];
  }

  /** Whether a worker has its data, made with a token that the tenant knows. */
  async hasData(name: string): Promise<boolean> {
    const config = await this.find(KubeadmConfig, name);
    const data = (await this.find(Secret, name))?.data?.value;
    if (config?.status?.initialization?.dataSecretCreated !== true || data === undefined) return false;
    const id = /\b([a-z0-9]{6})\.[a-z0-9]{16}\b/.exec(Buffer.from(data, "base64").toString())?.[1];
    return (await this.tokens())?.includes(`bootstrap-token-${id}`) === true;
  }

  async remove(kind: Resource, name: string): Promise<void> {
    await this.world.passing(this.client.delete(kind, at(name)));
  }
}

/** The way into the tenant, whichever operator runs it. */
export function tenantTransport(world: TenantLifeWorld): Transport {
  const way = async (): Promise<Transport> => {
    const [tenant] = (await world.client.list(TenantControlPlane, { namespace: NAMESPACE })).items;
    return world.runtime.transport(tenant?.metadata.uid ?? "none");
  };
  return {
    request: async (request) => await (await way()).request(request),
    watch: async (request) => await (await way()).watch(request),
    close: async () => {},
  };
}

function controllersOf({ world, mortal, client }: { world: TenantLifeWorld; mortal: Mortal; client: Client }) {
  const { clock, random } = world;
  const workloads = new WorkloadClusters({
    ...{ clock, random, log, kubeconfig: (cluster) => kubeconfigOf(client, cluster) },
    open: () => mortal.transport(tenantTransport(world)),
  });
  const foreign = new ForeignProvider({ client, clock, sign: UPSTREAM_SIGN });
  return {
    controllers: [
      kamajiControlPlaneController(),
      kubeadmConfigController({ workloads, foreign, clock, random, onSecret: () => {} }),
    ],
    close: () => workloads.close(),
  };
}

/** Kinds of a management cluster, but for Kamaji's own. */
export const MANAGEMENT_KINDS = [...CORE, ...KAMAJI_CONTROL_PLANE_KINDS, ...KUBEADM_KINDS, ...PACKET_KINDS];

const options = { kinds: MANAGEMENT_KINDS, controllers: controllersOf };

/** All that was made for the Cluster is gone, and so is every Secret. */
async function isGone(life: ControlPlaneLife): Promise<boolean> {
  const kinds = [KamajiControlPlane, KubeadmConfig] as Resource[];
  const left = await Promise.all(kinds.map((kind) => life.world.passing(life.client.list(kind))));
  return left.every(({ items }) => items.length === 0) && (await life.world.tenants()).length === 0;
}

/**
 * A control plane is made, a worker gets its data and joins, the control plane goes up and both are deleted. The operator dies as said, and another
 * one takes over. Resolves with the effects of the first.
 */
export async function lifeOfPlane(death?: Death): Promise<number> {
  const world = await TenantLifeWorld.create(options);
  const life = new ControlPlaneLife(world);
  try {
    await world.dataStore("default");
    const mortal = await world.operator(death);
    const replaceDead = successor(mortal, () => world.restart());
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(
        what,
        async () => {
          await replaceDead();
          await world.check();
          return await holds();
        },
        2 * 60 * MINUTE,
      );
    await runLife(life, until);
    return mortal.effects;
  } finally {
    await world.close();
  }
}

/** The course of such a life, from nothing to nothing. */
export async function runLife(
  life: ControlPlaneLife,
  until: (what: string, holds: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  await life.make();
  await until("the control plane is ready", () => life.isReady("1.33.0"));
  await life.provisioned();
  await life.worker("w");
  await until("the worker has its data", () => life.hasData("w"));
  assert.equal((await life.tokens())?.length, 1);
  await life.joined("w");
  await until("its token is removed", async () => (await life.tokens())?.length === 0);
  await life.plane("1.34.0", 1);
  await until("the control plane went up", () => life.isReady("1.34.0"));
  await life.remove(KubeadmConfig, "w");
  await life.remove(KamajiControlPlane, NAME);
  await until("all is gone", () => isGone(life));
  await life.world.clock.run(MINUTE);
  await life.world.checkNothingLeft();
}

/** A control plane and its workers under faults drawn from a seed: the API and databases fail, operators end, Secrets are lost. */
export async function planeUnderFaults(seed: number): Promise<void> {
  const draw = seededRandom(seed * 6_151 + 3);
  const chance = (p: number): boolean => draw.fraction() < p;
  let isDown = false;
  const world = await TenantLifeWorld.create({
    ...options,
    seed,
    transport: (inner) => interruptible(inner, () => isDown),
  });
  const life = new ControlPlaneLife(world);
  try {
    await world.dataStore("default");
    await world.operator();
    await life.make();
    let version = "1.33.0";
    const workers = new Map<string, "waits" | "joined" | "gone">();
    const ends = world.clock.now() + 90 * MINUTE;
    const step = async (): Promise<boolean> => {
      await world.check();
      isDown = chance(0.05);
      if (chance(0.03)) {
        isDown = false;
        await world.restart();
      }
      breakSomething(world, draw);
      if (chance(0.02)) await life.remove(Secret, chance(0.5) ? `${NAME}-kubeconfig` : `${NAME}-ca`);
      if (chance(0.03) && version === "1.33.0" && (await life.isReady(version))) {
        version = "1.34.0";
        await life.plane(version, 1);
      }
      await changeWorker(life, workers, draw);
      return world.clock.now() >= ends;
    };
    await world.until("mischief is over", step, 3 * 60 * MINUTE, 20_000);
    isDown = false;
    for (const database of world.databases.values()) database.mend();
    await world.until("the control plane is ready", () => life.isReady(version), LONG, 20_000);
    await life.provisioned();
    for (const [name, state] of workers)
      if (state === "waits") await world.until(`${name} has its data`, () => life.hasData(name), LONG, 20_000);
    const waiting = [...workers.values()].filter((state) => state === "waits").length;
    await world.until(
      "each waiting worker has one token",
      async () => (await life.tokens())?.length === waiting,
      LONG,
      20_000,
    );
    for (const name of workers.keys()) await life.remove(KubeadmConfig, name);
    await life.remove(KamajiControlPlane, NAME);
    await world.until("all is gone", () => isGone(life), LONG, 20_000);
    await world.clock.run(MINUTE);
    await world.checkNothingLeft();
  } finally {
    await world.close();
  }
}

/** A database that fails or comes back, a tenant's program that ends. */
function breakSomething(world: TenantLifeWorld, draw: Random): void {
  for (const database of world.databases.values()) if (draw.fraction() < 0.03) database.isUp = !database.isUp;
  const ready = world.runtime.ready();
  if (ready.length > 0 && draw.fraction() < 0.05) world.runtime.crash(ready[draw.int(ready.length)]!);
}

/** Now and then a worker comes, joins or goes. */
async function changeWorker(
  life: ControlPlaneLife,
  workers: Map<string, "waits" | "joined" | "gone">,
  draw: Random,
): Promise<void> {
  const chance = (p: number): boolean => draw.fraction() < p;
  const cluster = await life.find(Cluster, NAME);
  if (cluster?.status?.initialization?.controlPlaneInitialized !== true) {
    if (await life.isReady("1.33.0")) await life.provisioned();
    return;
  }
  if (workers.size < 4 && chance(0.05)) {
    const name = `w${workers.size}`;
    await life.worker(name);
    workers.set(name, "waits");
  }
  for (const [name, state] of workers) {
    if (state === "waits" && chance(0.02) && (await life.find(Secret, name)) !== undefined) {
      await life.joined(name);
      workers.set(name, "joined");
    } else if (state !== "gone" && chance(0.01)) {
      await life.remove(KubeadmConfig, name);
      workers.set(name, "gone");
    }
  }
}

/** A control plane that is ready, and nothing happens: resolves with the requests of the operator in an hour, watches left out, and how long until a change in the tenant shows. */
export async function restOfPlane(): Promise<{ asked: readonly string[]; shownAfterMs: number }> {
  let asked: string[] = [];
  const counted = (inner: Transport): Transport => ({
    request: (request) => {
      asked.push(`${request.method} ${request.path}`);
      return inner.request(request);
    },
    watch: (request) => inner.watch(request),
    close: () => inner.close(),
  });
  const world = await TenantLifeWorld.create({ ...options, transport: counted });
  const life = new ControlPlaneLife(world);
  try {
    await world.dataStore("default");
    await world.operator();
    await life.make();
    await world.until("the control plane is ready", () => life.isReady("1.33.0"), LONG);
    await world.clock.run(10 * MINUTE);
    asked = [];
    await world.clock.run(60 * MINUTE);
    const atRest = asked;
    const isUnready = async (): Promise<boolean> => (await life.find(KamajiControlPlane, NAME))?.status?.ready !== true;
    const began = world.clock.monotonic();
    world.runtime.crash(world.runtime.ready()[0]!);
    await world.until("the control plane is not ready", isUnready, MINUTE, 100);
    return { asked: atRest, shownAfterMs: world.clock.monotonic() - began };
  } finally {
    await world.close();
  }
}
