/** A management cluster with one of the two cores, a cluster of the test provider's on it, and what its hosts and its user do. */
import { readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { EXTRAS } from "@slipway/apiserver/extras";
import { systemClock as clock, quietLog as log, cryptoRandom as random, rfc3339 } from "@slipway/base";
import { type Client, createClient, type Transport } from "@slipway/kube";
import { Namespace, Node, Secret } from "@slipway/kube/core";
import { Cluster } from "../../../../src/kinds/cluster-api/cluster.ts";
import { CLUSTER_API_KINDS } from "../../../../src/kinds/cluster-api/kinds.ts";
import { Machine } from "../../../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../../../src/kinds/cluster-api/machine-set.ts";
import { convertersByDefinition } from "../../../../src/kinds/conversion.ts";
import { installCrds } from "../../../../src/kinds/install.ts";
import { laptopIdentity } from "../../../../src/laptop/identity.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../../../src/operator/defaults.ts";
import { convertedKinds } from "../../../../src/operator/kinds.ts";
import { createOperator } from "../../../../src/operator/operator.ts";
import { clusterApi } from "../../../../src/systems/cluster-api/system.ts";
import {
  PROVIDER_KINDS,
  SimCluster,
  SimControlPlane,
  SimMachine,
  SimMachineTemplate,
} from "../../../system/cluster-api-provider.ts";
import { until } from "../../live.ts";
import { startUpstream } from "../upstream.ts";
import type { Action, HostAction } from "./run.ts";
import type { Change, Shape } from "./shape.ts";
import { type Host, type Snapshot, type Standing, standingOf } from "./standing.ts";

const NAMESPACE = "default";
const CLUSTER = "quay";
const VERSION = "v1.36.1";
const TEMPLATES = ["a", "b", "c"];
const FINALIZER = "sim.example.org/host";
const WITHIN_MS = 120_000;
/** On a machine with much else to do. */
const PATIENT = { timeoutMs: WITHIN_MS };
const UNREACHED = "http://127.0.0.1:9";

export class CoreUnderTest {
  readonly name: string;
  readonly client: Client;
  /** What it said, for the person who reads a failed test. */
  readonly said: () => Promise<string>;

  constructor(name: string, client: Client, said: () => Promise<string>) {
    this.name = name;
    this.client = client;
    this.said = said;
  }

  /** Makes the cluster and what its deployments are made from. The management cluster is its own workload cluster: there the Nodes are. */
  async prepare(kubeconfig: string): Promise<void> {
    const { client } = this;
    const metadata = (name: string) => ({ namespace: NAMESPACE, name });
    const status = (resource: typeof SimCluster, body: object) =>
      client.patch(resource, metadata(CLUSTER), { type: "merge", body: { status: body } }, { subresource: "status" });
    await client.create(Secret, {
      metadata: { ...metadata(`${CLUSTER}-kubeconfig`), labels: { "cluster.x-k8s.io/cluster-name": CLUSTER } },
      type: "cluster.x-k8s.io/secret",
      data: { value: Buffer.from(kubeconfig).toString("base64") },
    });
    await client.create(SimCluster, {
      metadata: metadata(CLUSTER),
      spec: { controlPlaneEndpoint: { host: "127.0.0.1", port: 6443 } },
    });
    await status(SimCluster, { initialization: { provisioned: true } });
    await client.create(SimControlPlane, { metadata: metadata(CLUSTER), spec: { version: VERSION } });
    await status(SimControlPlane, {
      ...{ initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true, version: VERSION },
    });
    for (const name of TEMPLATES)
      await client.create(SimMachineTemplate, {
        metadata: metadata(name),
        spec: { template: { spec: { plan: name } } },
      });
    const ref = ({ group, kind }: typeof SimCluster) => ({ apiGroup: group, kind, name: CLUSTER });
    await client.create(Cluster, {
      metadata: metadata(CLUSTER),
      spec: { infrastructureRef: ref(SimCluster), controlPlaneRef: ref(SimControlPlane) },
    });
    await until(
      `${this.name}: the cluster's control plane is known to be initialized`,
      async () =>
        (await client.get(Cluster, metadata(CLUSTER))).status?.initialization?.controlPlaneInitialized === true,
      WITHIN_MS,
      async () => `${JSON.stringify((await client.get(Cluster, metadata(CLUSTER))).status)}\n${await this.said()}`,
    );
  }

  async deploy({ name, replicas, strategy }: Shape): Promise<void> {
    await this.client.create(
      MachineDeployment,
      {
        metadata: { namespace: NAMESPACE, name },
        spec: {
          ...{ clusterName: CLUSTER, replicas, selector: {}, rollout: { strategy } },
          template: {
            spec: {
              ...{ clusterName: CLUSTER, version: VERSION, bootstrap: { dataSecretName: "join" } },
              infrastructureRef: {
                apiGroup: SimMachineTemplate.group,
                kind: SimMachineTemplate.kind,
                name: TEMPLATES[0]!,
              },
            },
          },
        },
      } as never,
      PATIENT,
    );
  }

  /** All objects. Hosts that nobody holds yet are held: from then on they are there until they are released. */
  async look(): Promise<Snapshot> {
    const { client } = this;
    const [deployments, sets, machines, hosts] = await Promise.all([
      client.list(MachineDeployment, PATIENT),
      client.list(MachineSet, PATIENT),
      client.list(Machine, PATIENT),
      client.list(SimMachine, PATIENT),
    ]);
    const free = hosts.items.filter(
      ({ metadata }) => metadata.finalizers === undefined && metadata.deletionTimestamp === undefined,
    );
    await Promise.all(free.map(({ metadata }) => this.#host(metadata.name, { metadata: { finalizers: [FINALIZER] } })));
    return { deployments: deployments.items, sets: sets.items, machines: machines.items, hosts: hosts.items as Host[] };
  }

  /** Has an action happen to the deployment of this name. */
  async act(name: string, action: Action, snapshot: Snapshot): Promise<void> {
    if (action.do === "change") return await this.#change(name, action.change, snapshot);
    for (const machine of this.#taken(action, standingOf(snapshot, name)))
      if (action.do === "ready") await this.#becomeReady(machine);
      else if (action.do === "release") await this.#host(machine, { metadata: { finalizers: null } });
      else await this.client.delete(Machine, { namespace: NAMESPACE, name: machine }, PATIENT);
  }

  #taken({ do: what, template, count }: HostAction, { sets }: Standing): readonly string[] {
    const set = sets.find((one) => one.template === template)!;
    const state = { ready: set.making, release: set.leaving, delete: set.ready }[what];
    return state.slice(0, count);
  }

  async #change(name: string, change: Change, snapshot: Snapshot): Promise<void> {
    const spec =
      "template" in change ? { template: { spec: { infrastructureRef: { name: change.template } } } } : change;
    // Sets are ordered by age, which counts whole seconds.
    const youngest = Math.max(...snapshot.sets.map(({ metadata }) => Date.parse(metadata.creationTimestamp)));
    await until("a second has passed", () => clock.now() > youngest + 1000, WITHIN_MS);
    await this.client.patch(
      MachineDeployment,
      { namespace: NAMESPACE, name },
      { type: "merge", body: { spec } },
      PATIENT,
    );
  }

  async #host(name: string, body: object): Promise<void> {
    await this.client.patch(SimMachine, { namespace: NAMESPACE, name }, { type: "merge", body }, PATIENT);
  }

  async #becomeReady(name: string): Promise<void> {
    const providerID = `sim://${name}`;
    const node = await this.client.create(Node, { metadata: { name }, spec: { providerID } }, PATIENT);
    const since = rfc3339(clock.now());
    const isSo = (type: string, status: "True" | "False") => ({
      ...{ type, status, reason: "Kubelet", message: "", lastTransitionTime: since },
    });
    const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => isSo(type, "False"));
    await this.client.updateStatus(
      Node,
      { ...node, status: { conditions: [isSo("Ready", "True"), ...pressures] } },
      PATIENT,
    );
    await this.#host(name, { spec: { providerID } });
    const status = { initialization: { provisioned: true }, addresses: [{ type: "InternalIP", address: "10.1.0.1" }] };
    await this.client.patch(
      SimMachine,
      { namespace: NAMESPACE, name },
      { type: "merge", body: { status } },
      { subresource: "status", ...PATIENT },
    );
  }
}

const clientOf = (transport: Transport): Client => createClient(transport, { clock, random, log });

/** Slipway's own core, in this process. */
export async function lightCore(t: TestContext, name = "the light core"): Promise<CoreUnderTest> {
  const identity = await laptopIdentity(undefined, "127.0.0.1", clock);
  const conversions = convertersByDefinition(convertedKinds([clusterApi]));
  const authority = identity.serving.clientCa!;
  const api = await createApiServer({ extras: EXTRAS, clock, random, log, authority, conversions });
  const { url } = await api.listen({ tls: identity.serving });
  const client = clientOf(api.transport());
  const stopping = new AbortController();
  await installCrds(client, clock, stopping.signal, [...CLUSTER_API_KINDS, ...PROVIDER_KINDS] as never);
  await client.create(Namespace, { metadata: { name: DEFAULT_NAMESPACE } });
  const operator = createOperator(
    { transport: api.transport(), clock, random, log, http: () => unreachable(), readNodeFile: async () => undefined },
    {
      ...{ namespace: DEFAULT_NAMESPACE, secret: DEFAULT_SECRET, bootUrl: UNREACHED, pollMs: 1000 },
      ...{ leaderElection: false, systems: [clusterApi], of: { "cluster-api": { core: "light" } } },
    },
  );
  t.after(async () => {
    stopping.abort();
    await operator.manager.stop();
    await operator.closed();
    await api.close();
  });
  await operator.prepare(stopping.signal);
  void operator.manager.start(stopping.signal);
  const core = new CoreUnderTest(name, client, async () => "");
  await core.prepare(identity.kubeconfig(url));
  return core;
}

function unreachable(): never {
  throw new Error("no cloud takes part");
}

/** Upstream's core. `folder`: where its program, clusterctl and kubectl are. */
export async function upstreamCore(t: TestContext, folder: string): Promise<CoreUnderTest> {
  const management = await startUpstream(t, folder, { run: ["capi-core"] });
  const client = clientOf(management.transport);
  await installCrds(client, clock, t.signal, PROVIDER_KINDS as never);
  const said = async () => (await management.said("capi-core")).slice(-3000);
  const core = new CoreUnderTest("upstream's core", client, said);
  await core.prepare(await readFile(management.kubeconfigFile, "utf8"));
  return core;
}
