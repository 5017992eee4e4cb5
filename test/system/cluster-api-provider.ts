/** A provider of Cluster API for tests: kinds of its own, hosts that take their time, and hosted control planes on embedded APIs. */
import { type ApiServer, createApiServer } from "@slipway/apiserver";
import { type Clock, quietLog, type Random, rfc3339 } from "@slipway/base";
import { type Client, createClient, type KubeObject, type Ref, refOf, type Transport } from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { z } from "zod";
import { clusterOwner, machineOwner } from "../../src/cluster-api/owners.ts";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { defineKind, type Kind } from "../../src/kinds/kind.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";

type Open = KubeObject & { spec: Record<string, unknown>; status?: Record<string, unknown> };

const kind = (group: string, name: string): Kind<Open> =>
  defineKind({
    group: `${group}.cluster.x-k8s.io`,
    version: "v1",
    kind: name,
    plural: `${name.toLowerCase()}s`,
    namespaced: true,
    labels: { "cluster.x-k8s.io/v1beta2": "v1" },
    description: "Of a provider for tests.",
    spec: z.looseObject({}).optional(),
    status: z.looseObject({}).optional(),
    columns: [],
  }) as unknown as Kind<Open>;

export const SimCluster = kind("infrastructure", "SimCluster");
export const SimMachine = kind("infrastructure", "SimMachine");
export const SimMachineTemplate = kind("infrastructure", "SimMachineTemplate");
export const SimRemediation = kind("infrastructure", "SimRemediation");
export const SimRemediationTemplate = kind("infrastructure", "SimRemediationTemplate");
export const SimBootstrap = kind("bootstrap", "SimBootstrap");
export const SimBootstrapTemplate = kind("bootstrap", "SimBootstrapTemplate");
export const SimControlPlane = kind("controlplane", "SimControlPlane");
export const PROVIDER_KINDS = [
  ...[SimCluster, SimMachine, SimMachineTemplate, SimRemediation, SimRemediationTemplate],
  ...[SimBootstrap, SimBootstrapTemplate, SimControlPlane],
].map((one) => [one as unknown as Kind]);

const FINALIZER = "sim.example.org/host";
const TICK_MS = 5_000;

export interface ProviderOptions {
  /** From claimed to provisioned, and from there to a Node. */
  hostMs?: number;
  joinMs?: number;
  /** From deletion to the host being given back. */
  releaseMs?: number;
}

/** What providers do, looked after every few seconds of the clock. */
export class TestProvider {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #options: Required<ProviderOptions>;
  readonly #tenants = new Map<string, Promise<ApiServer>>();
  readonly #since = new Map<string, number>();
  readonly #stop = new AbortController();
  /** Names of hosts that never become Nodes. */
  readonly broken = new Set<string>();
  /** Workload clusters that do not answer, by namespace and name. */
  readonly unreachable = new Set<string>();
  /** Hosts that were made, and that were given back. */
  made = 0;
  released = 0;

  constructor(client: Client, clock: Clock, random: Random, options: ProviderOptions = {}) {
    this.#client = client;
    this.#clock = clock;
    this.#random = random;
    this.#options = { hostMs: 60_000, joinMs: 30_000, releaseMs: 30_000, ...options };
  }

  start(): void {
    const tick = async (): Promise<void> => {
      await this.#look().catch(() => {});
      if (!this.#stop.signal.aborted) this.#clock.after(TICK_MS, () => void tick());
    };
    void tick();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const tenant of this.#tenants.values()) await (await tenant).close();
  }

  /** The way to a workload cluster, as its kubeconfig would open it. */
  open({ namespace, name }: Ref): Transport {
    const key = `${namespace}/${name}`;
    const way = async () => {
      if (this.unreachable.has(key)) throw new Error("connect ECONNREFUSED");
      return (await this.#tenant(key)).transport();
    };
    return {
      request: async (request) => (await way()).request(request),
      watch: async (request) => (await way()).watch(request),
      close: async () => {},
    };
  }

  /** The workload cluster's own administrator. */
  async tenant(name: string, namespace = "default"): Promise<Client> {
    const server = await this.#tenant(`${namespace}/${name}`);
    return createClient(server.transport(), { clock: this.#clock, random: this.#random, log: quietLog });
  }

  #tenant(key: string): Promise<ApiServer> {
    const held = this.#tenants.get(key);
    if (held !== undefined) return held;
    const made = createApiServer({ clock: this.#clock, random: this.#random, log: quietLog });
    this.#tenants.set(key, made);
    return made;
  }

  async #look(): Promise<void> {
    for (const object of (await this.#client.list(SimCluster)).items) await this.#cluster(object);
    for (const object of (await this.#client.list(SimControlPlane)).items) await this.#controlPlane(object);
    for (const object of (await this.#client.list(SimBootstrap)).items) await this.#bootstrap(object);
    for (const object of (await this.#client.list(SimMachine)).items) await this.#machine(object);
  }

  /** Whether so much time has passed since this was asked first. */
  #isOver(what: string, ms: number): boolean {
    const since = this.#since.get(what) ?? this.#clock.monotonic();
    this.#since.set(what, since);
    return this.#clock.monotonic() - since >= ms;
  }

  async #cluster(object: Open): Promise<void> {
    if (await this.#isLeaving(SimCluster, object, 0)) return;
    if (clusterOwner(object) === undefined || object.status !== undefined) return;
    const spec = { controlPlaneEndpoint: { host: "10.0.0.1", port: 6443 } };
    await this.#client.patch(SimCluster, refOf(object), { type: "merge", body: { spec } });
    await this.#status(SimCluster, object, { initialization: { provisioned: true }, failureDomains: [{ name: "a" }] });
  }

  async #controlPlane(object: Open): Promise<void> {
    if (await this.#isLeaving(SimControlPlane, object, 0)) return;
    const owner = clusterOwner(object);
    if (owner === undefined) return;
    const cluster = await this.#client.find(Cluster, owner);
    if (cluster?.status?.initialization?.infrastructureProvisioned !== true) return;
    if (object.status === undefined) {
      const value = kubeconfig({ name: owner.name, server: "https://10.0.0.1:6443", token: "t" });
      await this.#client
        .create(Secret, {
          metadata: { namespace: owner.namespace!, name: `${owner.name}-kubeconfig` },
          type: "cluster.x-k8s.io/secret",
          data: { value: Buffer.from(value).toString("base64") },
        })
        .catch(() => {});
    }
    const version = object.spec.version as string | undefined;
    const held = object.status as { version?: string } | undefined;
    if (held !== undefined && held.version === version) return;
    // An upgrade takes a minute.
    if (held !== undefined && !this.#isOver(`upgrade ${object.metadata.uid} ${version}`, 60_000)) return;
    await this.#status(SimControlPlane, object, {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      ...(version && { version }),
    });
  }

  async #bootstrap(object: Open): Promise<void> {
    const owner = machineOwner(object);
    if (owner === undefined || object.status !== undefined || object.metadata.deletionTimestamp) return;
    const machine = await this.#client.find(Machine, owner);
    const cluster = machine && (await this.#client.find(Cluster, { ...owner, name: machine.spec.clusterName }));
    if (!cluster?.status?.initialization?.controlPlaneInitialized) return;
    await this.#status(SimBootstrap, object, {
      dataSecretName: object.metadata.name,
      initialization: { dataSecretCreated: true },
    });
  }

  async #machine(object: Open): Promise<void> {
    const { name, uid } = object.metadata;
    if (await this.#isLeaving(SimMachine, object, this.#options.releaseMs, () => this.released++)) return;
    const owner = machineOwner(object);
    const machine = owner && (await this.#client.find(Machine, owner));
    if (machine?.spec.bootstrap.dataSecretName === undefined) return;
    if (!object.metadata.finalizers?.includes(FINALIZER)) {
      this.made++;
      const body = { metadata: { finalizers: [...(object.metadata.finalizers ?? []), FINALIZER] } };
      await this.#client.patch(SimMachine, refOf(object), { type: "merge", body });
    }
    if (!this.#isOver(`host ${uid}`, this.#options.hostMs)) return;
    const providerID = `sim://${uid}`;
    if (object.status === undefined) {
      await this.#client.patch(SimMachine, refOf(object), { type: "merge", body: { spec: { providerID } } });
      const addresses = [{ type: "InternalIP", address: "10.1.0.1" }];
      await this.#status(SimMachine, object, { initialization: { provisioned: true }, addresses });
    }
    if (this.broken.has(name) || !this.#isOver(`join ${uid}`, this.#options.joinMs) || this.#since.has(`joined ${uid}`))
      return;
    this.#since.set(`joined ${uid}`, 0);
    await this.#join(await this.tenant(machine.spec.clusterName, machine.metadata.namespace), machine, providerID);
  }

  async #join(tenant: Client, machine: Machine, providerID: string): Promise<void> {
    const { name } = machine.metadata;
    const taints = [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" as const }];
    const node = await tenant.create(Node, { metadata: { name }, spec: { providerID, taints } });
    await tenant.updateStatus(Node, {
      ...node,
      status: {
        conditions: nodeConditions("True", this.#clock.now()),
        nodeInfo: { ...NODE_INFO, kubeletVersion: machine.spec.version ?? "v1.36.1" },
      },
    });
  }

  /** Sets Ready of a Node. */
  async setReady(cluster: string, name: string, status: "True" | "False" | "Unknown"): Promise<void> {
    const tenant = await this.tenant(cluster);
    const node = await tenant.get(Node, { name });
    await tenant.updateStatus(Node, {
      ...node,
      status: { ...node.status, conditions: nodeConditions(status, this.#clock.now()) },
    });
  }

  /** Lets an object that is being deleted go after a while. True: it is being deleted. */
  async #isLeaving(resource: Kind<Open>, object: Open, ms: number, onGone: () => void = () => {}): Promise<boolean> {
    const { deletionTimestamp, uid, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined) return false;
    if (!finalizers.includes(FINALIZER) || !this.#isOver(`leave ${uid}`, ms)) return true;
    const body = { metadata: { finalizers: finalizers.filter((one) => one !== FINALIZER) } };
    await this.#client.patch(resource, refOf(object), { type: "merge", body });
    onGone();
    return true;
  }

  async #status(resource: Kind<Open>, object: Open, status: object): Promise<void> {
    await this.#client.patch(resource, refOf(object), { type: "merge", body: { status } }, { subresource: "status" });
  }
}

const nodeConditions = (ready: "True" | "False" | "Unknown", now: number) => [
  { type: "Ready", status: ready, reason: "Kubelet", message: "", lastTransitionTime: rfc3339(now) },
  ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
    ...{ type, status: "False" as const, reason: "Kubelet", message: "" },
    lastTransitionTime: rfc3339(now),
  })),
];

const NODE_INFO = {
  ...{ architecture: "amd64", bootID: "b", containerRuntimeVersion: "containerd://2", kernelVersion: "6" },
  ...{ kubeProxyVersion: "", machineID: "m", operatingSystem: "linux", osImage: "Debian", systemUUID: "s" },
};
