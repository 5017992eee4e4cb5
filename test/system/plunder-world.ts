/** The world of the tests of plunder's machines: a rack of own hosts, the light core, and workload clusters that simulated machines begin. */
import { readFile } from "node:fs/promises";
import { quietLog } from "@slipway/base";
import { createClient, type KubeObject } from "@slipway/kube";
import { ConfigMap, Namespace, Node, Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import type { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { CLUSTER_API_KINDS } from "../../src/kinds/cluster-api/kinds.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { InClusterIPPool } from "../../src/kinds/ipam/in-cluster-ip-pool.ts";
import { IPAM_KINDS } from "../../src/kinds/ipam/kinds.ts";
import { convertedFile } from "../../src/kinds/manifests/convert.ts";
import { PLUNDER_KINDS } from "../../src/kinds/plunder/kinds.ts";
import type { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { DEFAULT_NAMESPACE } from "../../src/operator/defaults.ts";
import { ALL_KINDS } from "../../src/operator/kinds.ts";
import { systemsOf } from "../../src/operator/operator.ts";
import type { SystemSettings } from "../../src/operator/settings.ts";
import { credentialsOf } from "../../src/pki/tenant/credentials.ts";
import type { Mortal } from "./mortal.ts";
import { OwnRack, type Servers } from "./own-rack.ts";
import { MINUTE, type RunningOperator, World, type WorldOptions } from "./world.ts";

export const NAMESPACE = "default";
export const CLUSTER = "cluster-plunder";
/** The original's manifests, as they are. */
export const OLD_MANIFESTS = ["examples/plunder/2019/cluster.yaml", "examples/plunder/2019/machine.yaml"];
export const IMAGES = "http://images.example";
/** For debian-installer. */
export const PRESEED_PROFILE = `kernel: ${IMAGES}/linux
initrd: ${IMAGES}/initrd.gz
user: { name: ops, sshKeys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA a"] }
`;

export interface PlunderOptions extends WorldOptions {
  servers?: Servers;
}

export class PlunderWorld extends World {
  #own!: OwnRack;
  readonly #servers: Servers;

  constructor({ servers = { sg: 3, ny: 0 }, ...options }: PlunderOptions) {
    super({
      systems: systemsOf(["providers", "netboot", "cluster-api", "ipam", "plunder"]),
      counterparts: [],
      ...options,
    });
    this.#servers = servers;
  }

  get own(): OwnRack {
    return this.#own;
  }

  protected override settings(process: Mortal): SystemSettings {
    return {
      netboot: this.#own.settings(process),
      "cluster-api": { core: "light" },
      plunder: { enabled: true },
      ipam: { pools: "own" },
    };
  }

  protected override async begin(): Promise<void> {
    await super.begin();
    await this.install([...CLUSTER_API_KINDS, ...PLUNDER_KINDS, ...IPAM_KINDS]);
    for (const name of [NAMESPACE, DEFAULT_NAMESPACE])
      await this.whileTimePasses(this.client.create(Namespace, { metadata: { name } }).catch(() => {}));
    this.serve(IMAGES, async () => ({ status: 200, headers: {}, body: "" }));
    const image = { kernel: `${IMAGES}/vmlinuz`, initrd: `${IMAGES}/initrd` };
    const inventory = {
      namespaces: ["slipway-hosts"],
      plans: { any: {} },
      operatingSystems: { preseed: image },
      setAsideAfter: 2,
    };
    const spec = { type: "inventory", inventory };
    await this.whileTimePasses(this.client.create(MachineProvider, { metadata: { name: "plunder" }, spec } as never));
    this.#own = await OwnRack.begin(this, this.#servers);
  }

  /** Has deployment type `preseed` be this entry of the MachineProvider. */
  async offer(entry: object): Promise<void> {
    const body = { spec: { inventory: { operatingSystems: { preseed: { kernel: null, initrd: null, ...entry } } } } };
    await this.whileTimePasses(this.client.patch(MachineProvider, { name: "plunder" }, { type: "merge", body }));
    // Until what was read before is too old.
    await this.clock.run(2 * MINUTE);
  }

  /** A profile beside the hosts. */
  async profile(name: string, text: string): Promise<void> {
    const metadata = { namespace: DISCOVERY_NAMESPACE, name };
    await this.whileTimePasses(this.client.create(ConfigMap, { metadata, data: { profile: text } }));
  }

  /** Hosts are available when it resolves, but for an operator that is to die. */
  override async operator(of: Parameters<World["operator"]>[0] = {}): Promise<RunningOperator> {
    const operator = await super.operator(of);
    if (of.death === undefined) await this.#own.untilAvailable();
    return operator;
  }

  override async close(): Promise<void> {
    await this.#own.close();
    await super.close();
  }

  /** A pool of ten addresses. Resolves with what `addressesFromPool` says of it. */
  async addressPool(name: string): Promise<{ apiGroup: string; kind: string; name: string }> {
    const spec = { addresses: ["10.9.0.10-10.9.0.19"], prefix: 24, gateway: "10.9.0.1" };
    const metadata = { namespace: NAMESPACE, name };
    await this.whileTimePasses(this.client.create(InClusterIPPool, { metadata, spec } as never));
    return { apiGroup: InClusterIPPool.group, kind: InClusterIPPool.kind, name };
  }

  /** Creates the objects of manifests as `kubectl create -f` does: in their own versions. */
  async create(...files: string[]): Promise<void> {
    for (const file of files)
      for (const object of loadAll(await readFile(file, "utf8")) as KubeObject[]) await this.createObject(object);
  }

  /** The same as `slipway convert` writes them: in today's versions, which any API server takes without conversion. `names`: only objects of these names; `spec`: what PlunderMachines have in the place of their fields. */
  async createTodays(files: readonly string[], names?: readonly string[], spec: object = {}): Promise<void> {
    for (const file of files)
      for (const object of convertedFile(await readFile(file, "utf8"), file, ALL_KINDS).objects)
        if (names?.includes(object.metadata.name) !== false)
          await this.createObject(object.kind === PlunderMachine.kind ? withSpec(object, spec) : object);
  }

  async createObject(object: object): Promise<void> {
    const { apiVersion, kind, metadata } = object as KubeObject;
    const [group = "", version = ""] = apiVersion.split("/");
    const resource = { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
    const body = { ...object, metadata: { namespace: NAMESPACE, ...metadata } };
    await this.whileTimePasses(this.client.create(resource, body as never));
  }

  async plunderMachines(): Promise<PlunderMachine[]> {
    return (await this.whileTimePasses(this.client.list(PlunderMachine))).items;
  }

  async plunderMachine(name: string): Promise<PlunderMachine | undefined> {
    return await this.whileTimePasses(this.client.find(PlunderMachine, { namespace: NAMESPACE, name }));
  }

  async machines(): Promise<Machine[]> {
    return (await this.whileTimePasses(this.client.list(Machine))).items;
  }

  /** Until all Machines have their Nodes. */
  async untilRunning(count: number): Promise<void> {
    await this.until(`${count} Machines run`, async () => {
      const phases = (await this.machines()).map(({ status }) => status?.phase);
      return phases.length === count && phases.every((phase) => phase === "Running");
    });
  }

  async remove(kind: typeof Machine | typeof Cluster | typeof PlunderCluster | typeof PlunderMachine, name: string) {
    await this.whileTimePasses(this.client.delete(kind as typeof Machine, { namespace: NAMESPACE, name }));
  }

  /** Nodes of the workload cluster. */
  async nodes(): Promise<Node[]> {
    return (await this.whileTimePasses((await this.workload()).list(Node))).items;
  }

  /** The workload cluster's own administrator. */
  async workload(name = CLUSTER) {
    const ref = { namespace: NAMESPACE, name: `${name}-kubeconfig` };
    const secret = await this.whileTimePasses(this.client.get(Secret, ref));
    const text = Buffer.from(secret.data!.value!, "base64").toString();
    const { server, caPem: ca, certificatePem: cert, keyPem: key } = credentialsOf(text)!;
    const { clock, random } = this;
    return createClient(this.controlPlanes.open({ server, ca, cert, key }), { clock, random, log: quietLog });
  }

  /** Messages of the events of an object, with their reasons. */
  async told(name: string): Promise<string[]> {
    return (await this.events())
      .filter(({ involvedObject }) => involvedObject?.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Deletes an object of each kind in this order, and waits until nothing is left. */
  async untilGone(): Promise<void> {
    const isGone = async (): Promise<boolean> => {
      const left = [await this.machines(), await this.plunderMachines()];
      return left.every((list) => list.length === 0);
    };
    await this.until("all machines are gone", isGone);
  }

  override async story(): Promise<string> {
    const objects = [...(await this.machines()), ...(await this.plunderMachines())];
    const told = objects.map(({ kind, metadata, status }) => `${kind} ${metadata.name} ${JSON.stringify(status)}`);
    const hosts = (await this.own.hosts()).map(
      ({ metadata, status }) => `${metadata.name} ${JSON.stringify(status?.provisioning?.state)} ${status?.waitingFor}`,
    );
    const servers = [...this.own.rack.servers.values()].map(
      ({ name, running }) => `${name} runs ${JSON.stringify(running)}`,
    );
    return [...told, ...hosts, ...servers, ...this.logged.slice(-15)].join("\n");
  }
}

const withSpec = (object: object, spec: object): object => ({
  ...object,
  spec: { ...(object as PlunderMachine).spec, ...spec },
});

/** A world with a running operator; closed at the end of the work. */
export async function inPlunderWorld(
  work: (world: PlunderWorld) => Promise<void>,
  options: PlunderOptions = {},
): Promise<void> {
  const world = await PlunderWorld.create(options);
  try {
    await world.operator();
    await work(world);
  } finally {
    await world.close();
  }
}
