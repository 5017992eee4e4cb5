/** A management API with the kinds of Cluster API and Kamaji, KamajiControlPlanes and embedded tenants. What the core does, a test does: there is none here. */
import type { TestContext } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, deadline, quietLog as log, cryptoRandom as random } from "@slipway/base";
import {
  type Client,
  createClient,
  createManager,
  type KubeObject,
  ownerReference,
  type Ref,
  type Resource,
  type Transport,
} from "@slipway/kube";
import { type Connection, createHttpTransport } from "@slipway/kube/http";
import { Cluster, ClusterV1beta1 } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine, MachineV1beta1 } from "../../src/kinds/cluster-api/machine.ts";
import { convertersByDefinition } from "../../src/kinds/conversion.ts";
import { installCrds } from "../../src/kinds/install.ts";
import { KAMAJI_KINDS } from "../../src/kinds/kamaji/kinds.ts";
import { KamajiControlPlane } from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { KAMAJI_CONTROL_PLANE_KINDS } from "../../src/kinds/kamaji-control-plane/kinds.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { KUBEADM_KINDS } from "../../src/kinds/kubeadm/kinds.ts";
import { PACKET_KINDS } from "../../src/kinds/packet/kinds.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { laptopIdentity } from "../../src/laptop/identity.ts";
import { Waker } from "../../src/systems/cluster-api/wake.ts";
import { ForeignProvider } from "../../src/systems/foreign-provider.ts";
import { Runtimes } from "../../src/systems/kamaji/runtimes.ts";
import { startRuntime } from "../../src/systems/kamaji/start-runtime.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import { tenantController } from "../../src/systems/kamaji/tenant-controller.ts";
import { kamajiControlPlaneController } from "../../src/systems/kamaji-control-plane/controller.ts";
import { ExternalClusters } from "../../src/systems/kamaji-control-plane/external-clusters.ts";
import { ORIGINAL_SIGN } from "../../src/systems/kamaji-control-plane/names.ts";
import { kubeadmConfigController } from "../../src/systems/kubeadm-bootstrap/controller.ts";
import { UPSTREAM_SIGN } from "../../src/systems/kubeadm-bootstrap/names.ts";
import { kubeconfigOf } from "../../src/workload/kubeconfig-secret.ts";
import { WorkloadClusters } from "../../src/workload/workload-clusters.ts";

export const NAMESPACE = "default";
/** Only a failing test waits so long: on a busy machine a tenant's certificates alone take many seconds. */
const WITHIN_MS = 60_000;
const CORE = [
  [Cluster, ClusterV1beta1],
  [Machine, MachineV1beta1],
] as unknown as readonly (readonly Kind[])[];
const KINDS = [...CORE, ...KUBEADM_KINDS, ...KAMAJI_CONTROL_PLANE_KINDS, ...PACKET_KINDS];

export interface ControlPlanesWorld {
  client: Client;
  /** The administrator's way to the API. */
  transport(): Transport;
  apply(...objects: object[]): Promise<void>;
  /** Resolves with the object once it is so; rejects with what it was at the end. */
  until<T extends KubeObject>(resource: Resource<T>, name: string | Ref, what: (object: T) => boolean): Promise<T>;
  /** Resolves when there is no such object. */
  gone(resource: Resource, name: string | Ref): Promise<void>;
  /** Does what Cluster API's core does first: the Cluster owns what it names. */
  own(cluster: string, controlPlane?: string): Promise<void>;
  /** Kamaji's kinds come now. */
  installKamaji(): Promise<void>;
  /** Requests to the management API so far that changed something. */
  writes(): number;
  /** Has the API listen on loopback. Resolves with its administrator's kubeconfig. */
  listen(): Promise<string>;
}

/** A Cluster, its PacketCluster and its control plane, as `apply` takes them. */
export function manifests({
  cluster = "a",
  controlPlane = "a-plane",
  spec = {},
  network = {},
  port = 37_443,
} = {}): object[] {
  return [
    {
      apiVersion: "cluster.x-k8s.io/v1beta1",
      kind: "Cluster",
      metadata: { name: cluster },
      spec: {
        clusterNetwork: {
          apiServerPort: port,
          services: { cidrBlocks: ["172.26.0.0/16"] },
          pods: { cidrBlocks: ["192.168.0.0/16"] },
          ...network,
        },
        // The version that the documentation's example names is none that is served.
        controlPlaneRef: {
          apiVersion: "controlplane.cluster.x-k8s.io/v1beta1",
          kind: "KamajiControlPlane",
          name: controlPlane,
        },
        infrastructureRef: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
          kind: "PacketCluster",
          name: cluster,
        },
      },
    },
    {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "PacketCluster",
      metadata: { name: cluster, annotations: { "cluster.x-k8s.io/managed-by": "kamaji" } },
      spec: { projectID: "5f1c7f0e-9f3a-4d52-8a51-6f2f3f0c9b11", metro: "sg" },
    },
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "KamajiControlPlane",
      metadata: { name: controlPlane },
      spec: {
        dataStoreName: "default",
        version: "1.27.0",
        replicas: 2,
        addons: { coreDNS: {}, kubeProxy: {} },
        kubelet: { cgroupfs: "systemd", preferredAddressTypes: ["ExternalIP", "InternalIP", "Hostname"] },
        network: { serviceType: "LoadBalancer" },
        deployment: null,
        ...spec,
      },
    },
  ];
}

interface WorldOptions {
  /** Whether Kamaji's kinds are there from the beginning. */
  kamaji?: boolean;
  /** Something other than this world makes the tenants. */
  tenantsByOthers?: boolean;
  /** The way to clusters that an `externalClusterReference` names. */
  openExternal?: (connection: Connection) => Transport;
}

export async function controlPlanesWorld(
  t: TestContext,
  { kamaji = true, tenantsByOthers = false, openExternal }: WorldOptions = {},
): Promise<ControlPlanesWorld> {
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const authority = identity.serving.clientCa!;
  const conversions = convertersByDefinition(KINDS);
  const api = await createApiServer({ clock, random, log, authority, conversions, extras: EXTRAS });
  let writes = 0;
  const transport = api.transport();
  const counted = {
    ...transport,
    request: (request: Parameters<typeof transport.request>[0]) => {
      if (request.method !== "GET") writes += 1;
      return transport.request(request);
    },
    watch: (request: Parameters<typeof transport.watch>[0]) => transport.watch(request),
  } as typeof transport;
  const client = createClient(transport, { clock, random, log });
  const never = new AbortController().signal;
  await installCrds(client, clock, never, KINDS);
  const installKamaji = () => installCrds(client, clock, never, KAMAJI_KINDS);
  if (kamaji) await installKamaji();
  const runtimes = new Runtimes({
    wanted: "embedded",
    start: (name) => startRuntime(name, { clock, random, log, host: "127.0.0.1", inCluster: false, ...NO_PROGRAMS }),
  });
  const stores = new Stores({ clock, log });
  const manager = createManager({ transport: counted, clock, random, log, leaderElection: false });
  if (!tenantsByOthers) manager.add(tenantController(runtimes, stores));
  const waker = new Waker();
  const external = new ExternalClusters(
    { clock, random, log, anyNamespace: false, ...(openExternal && { open: openExternal }) },
    (controlPlane) => waker.wake(controlPlane),
  );
  const original = new ForeignProvider({ client, clock, sign: ORIGINAL_SIGN });
  manager.add(kamajiControlPlaneController({ external, waker }, { foreign: original, log }));
  const workloads = new WorkloadClusters({
    ...{ clock, random, log, kubeconfig: (cluster) => kubeconfigOf(client, cluster) },
    open: (connection) => createHttpTransport(connection),
  });
  const foreign = new ForeignProvider({ client, clock, sign: UPSTREAM_SIGN });
  manager.add(kubeadmConfigController({ workloads, foreign, clock, random, onSecret: () => {} }));
  void manager.start();
  if (kamaji) await manager.whenReady();
  t.after(async () => {
    await manager.stop();
    await external.close();
    await workloads.close();
    await runtimes.close();
    await stores.close();
    await api.close();
  });
  const wait = async <T>(look: () => Promise<T | undefined>, story: () => Promise<unknown>): Promise<T> => {
    const { signal, done } = deadline(clock, WITHIN_MS);
    try {
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (signal.aborted)
          throw new Error(
            `not in time: ${JSON.stringify(((await story()) as { status?: unknown })?.status ?? (await story()))}`,
          );
        await clock.sleep(20);
      }
    } finally {
      done();
    }
  };
  return {
    client,
    transport: () => api.transport(),
    installKamaji,
    writes: () => writes,
    listen: async () => identity.kubeconfig((await api.listen({ tls: identity.serving })).url),
    async apply(...objects) {
      await applyObjects({ client, transport }, objects as KubeObject[]);
    },
    until: (resource, name, what) => {
      const find = () => client.find(resource, refTo(name));
      return wait(async () => {
        const object = await find();
        return object !== undefined && what(object) ? object : undefined;
      }, find);
    },
    async gone(resource, name) {
      const find = () => client.find(resource, refTo(name));
      await wait(async () => ((await find()) === undefined ? true : undefined), find);
    },
    async own(name, controlPlane = `${name}-plane`) {
      const cluster = await client.get(Cluster, { namespace: NAMESPACE, name });
      const labels = { "cluster.x-k8s.io/cluster-name": name };
      const body = { metadata: { labels, ownerReferences: [ownerReference(Cluster, cluster)] } };
      await client.patch(KamajiControlPlane, { namespace: NAMESPACE, name: controlPlane }, { type: "merge", body });
      await client.patch(PacketCluster, { namespace: NAMESPACE, name }, { type: "merge", body });
    },
  };
}

const refTo = (name: string | Ref): Ref => (typeof name === "string" ? { namespace: NAMESPACE, name } : name);

const NO_PROGRAMS = {
  assets: async () => "",
  releaseOf: async () => undefined,
  kine: async () => "",
  tunnel: async () => "",
};

/** Status of a condition of an object. */
export const conditionOf = (
  {
    status,
  }: KubeObject & {
    status?: { conditions?: readonly { type: string; status: string; message?: string }[] | undefined };
  },
  type: string,
): string | undefined => status?.conditions?.find((one) => one.type === type)?.status;
