/** What providers do in no time for both cores: infrastructure, control planes, hosts that join, and workload clusters on embedded APIs in this process. */
import { createApiServer } from "@slipway/apiserver";
import { storageDrivers } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import {
  type Client,
  createClient,
  type KubeObject,
  type Ref,
  reflect,
  refOf,
  Store,
  type Transport,
} from "@slipway/kube";
import { Node, Secret } from "@slipway/kube/core";
import { Cluster } from "../src/kinds/cluster-api/cluster.ts";
import { type LaptopIdentity, laptopIdentity } from "../src/laptop/identity.ts";
import { SimCluster, SimControlPlane, SimMachine, SimMachineTemplate } from "../test/system/cluster-api-provider.ts";
import { Counts, countedTransport } from "./counts.ts";

export const NAMESPACE = "default";
export const VERSION = "v1.36.1";
const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";
const TEMPLATES = ["a", "b"];
/** Hosts that start at one time. Each is by itself, so a busy API server must not make them wait for one another. */
const WORKERS = 100;

interface Workload {
  client: Client;
  close(): Promise<void>;
}

/** The providers of one management cluster. */
export class Hosts {
  /** What they and the user of this benchmark ask of the management API. */
  readonly requests = new Counts();
  readonly client: Client;
  readonly #stopping = new AbortController();
  readonly #workloads = new Map<string, Workload>();
  readonly #identity: LaptopIdentity;
  readonly #queue: KubeObject[] = [];
  #working = 0;
  readonly #broken = Promise.withResolvers<never>();

  private constructor(transport: Transport, identity: LaptopIdentity) {
    this.client = createClient(countedTransport(transport, this.requests), { clock, random, log });
    this.#identity = identity;
    this.#broken.promise.catch(() => {});
  }

  static async start(transport: Transport): Promise<Hosts> {
    const hosts = new Hosts(transport, await laptopIdentity(undefined, "127.0.0.1", clock));
    for (const name of TEMPLATES)
      await hosts.client.create(SimMachineTemplate, {
        metadata: { namespace: NAMESPACE, name },
        spec: { template: { spec: { plan: name } } },
      });
    const machines = new Store<KubeObject>();
    machines.listen(({ type, object }) => {
      if (type === "added") hosts.#queue.push(object);
      hosts.#work();
    });
    void hosts.follow(SimMachine, machines);
    return hosts;
  }

  /** Keeps a store equal to the API's state until all is closed. */
  follow(resource: typeof SimMachine, store: Store<KubeObject>): Promise<void> {
    return reflect({ resource }, store as never, { client: this.client, clock, random, log }, this.#stopping.signal);
  }

  /** Rejects when a host could not do its part. */
  get broken(): Promise<never> {
    return this.#broken.promise;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    for (const { close } of this.#workloads.values()) await close();
  }

  /** A cluster whose infrastructure and control plane are there. */
  async cluster(name: string): Promise<void> {
    const { client } = this;
    const metadata = { namespace: NAMESPACE, name };
    const url = await this.#workload(name);
    const status = (resource: typeof SimCluster, body: object) =>
      client.patch(resource, metadata, { type: "merge", body: { status: body } }, { subresource: "status" });
    await client.create(Secret, {
      metadata: { namespace: NAMESPACE, name: `${name}-kubeconfig`, labels: { [CLUSTER_LABEL]: name } },
      type: "cluster.x-k8s.io/secret",
      data: { value: Buffer.from(this.#identity.kubeconfig(url)).toString("base64") },
    });
    await client.create(SimCluster, { metadata, spec: { controlPlaneEndpoint: { host: "127.0.0.1", port: 6443 } } });
    await status(SimCluster, { initialization: { provisioned: true } });
    await client.create(SimControlPlane, { metadata, spec: { version: VERSION } });
    await status(SimControlPlane, {
      ...{ initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true, version: VERSION },
    });
    const ref = ({ group, kind }: typeof SimCluster) => ({ apiGroup: group, kind, name });
    await client.create(Cluster, {
      metadata,
      spec: { infrastructureRef: ref(SimCluster), controlPlaneRef: ref(SimControlPlane) },
    });
  }

  async #workload(name: string): Promise<string> {
    const authority = this.#identity.serving.clientCa!;
    const api = await createApiServer({ clock, random, log, authority, extras: [storageDrivers] });
    const { url } = await api.listen({ tls: this.#identity.serving });
    const client = createClient(api.transport(), { clock, random, log });
    this.#workloads.set(name, { client, close: () => api.close() });
    return url;
  }

  #work(): void {
    while (this.#working < WORKERS && this.#queue.length > 0) {
      this.#working++;
      const next = this.#queue.shift()!;
      void this.#join(next)
        .catch((error: unknown) => this.#broken.reject(error as Error))
        .finally(() => {
          this.#working--;
          this.#work();
        });
    }
  }

  /** A host is there as soon as it is asked for, and is a Node of its cluster. */
  async #join(host: KubeObject): Promise<void> {
    const { name, labels } = host.metadata;
    const providerID = `sim://${name}`;
    const workload = this.#workloads.get(labels?.[CLUSTER_LABEL] ?? "")!.client;
    const node = await workload.create(Node, { metadata: { name }, spec: { providerID } });
    await workload.updateStatus(Node, { ...node, status: { conditions: CONDITIONS() } });
    const ref: Ref = refOf(host);
    await this.client.patch(SimMachine, ref, { type: "merge", body: { spec: { providerID } } });
    const status = { initialization: { provisioned: true }, addresses: [{ type: "InternalIP", address: "10.1.0.1" }] };
    await this.client.patch(SimMachine, ref, { type: "merge", body: { status } }, { subresource: "status" });
  }
}

const CONDITIONS = () => {
  const lastTransitionTime = rfc3339(clock.now());
  const isSo = (type: string, status: "True" | "False") => ({
    ...{ type, status, reason: "Kubelet", message: "", lastTransitionTime },
  });
  return [
    isSo("Ready", "True"),
    ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => isSo(type, "False")),
  ];
};
