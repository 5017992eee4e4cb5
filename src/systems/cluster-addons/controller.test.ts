import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Client, Context, KubeObject, Ref } from "@slipway/kube";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { KUBECONFIG_ACCESS } from "../../workload/kubeconfig-secret.ts";
import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import type { SystemPorts } from "../system.ts";
import { addonsController } from "./controller.ts";
import { clusterAddons } from "./system.ts";
import type { Addon } from "./wanted.ts";

const REF: Ref = { namespace: "fleet", name: "metal" };
const TAINT = { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" };

/** The controller with a Cluster and its Machines in the cache, and a workload cluster that writes down what is patched. */
function bench(addons: readonly Addon[]) {
  const patched: string[] = [];
  const told: string[] = [];
  let refusal: Fault | undefined;
  const client = (): Client =>
    ({
      async patch(resource: { kind: string }, { name }: Ref, _: object, { subresource = "" } = {}) {
        if (refusal !== undefined) throw refusal;
        patched.push(`${resource.kind}/${name}${subresource && `/${subresource}`}`);
        return { metadata: { name, resourceVersion: "7" } };
      },
    }) as unknown as Client;
  const state = {
    cluster: {
      metadata: { ...REF, uid: "u" },
      spec: {},
      status: { initialization: { controlPlaneInitialized: true } },
    } as unknown as Cluster | undefined,
    machines: [] as Machine[],
    client: client() as Client | undefined,
    nodes: {} as Record<string, KubeObject[]>,
  };
  const session = {
    get client() {
      return state.client;
    },
    nodesBy: (id: string) => state.nodes[id] ?? [],
  };
  const workloads = { of: () => session, onChange: () => () => {} } as unknown as WorkloadClusters;
  const controller = addonsController({ workloads, usual: new Set(addons), networkImage: undefined });
  const context = {
    cache: { get: () => state.cluster, list: () => state.machines },
    events: {
      normal: (_: object, reason: string) => told.push(reason),
      warning: (_: object, reason: string, message: string) => told.push(`${reason}: ${message}`),
    },
    signal: new AbortController().signal,
  } as unknown as Context;
  const reconcile = () => controller.reconcile(REF, context);
  return {
    state,
    patched,
    told,
    client,
    controller,
    reconcile,
    refuse: (fault: Fault | undefined) => (refusal = fault),
  };
}

const NETWORK = ["ClusterRole/slipway:nodes-see-nodes", "ClusterRoleBinding/slipway:nodes-see-nodes"];

test("B46 the network is applied once to a cluster, and again to one that was made anew under its name", async () => {
  const { state, patched, told, client, reconcile } = bench(["network"]);
  await reconcile();
  await reconcile();
  assert.deepEqual(patched, NETWORK);
  state.client = client();
  await reconcile();
  assert.deepEqual(patched, [...NETWORK, ...NETWORK]);
  assert.deepEqual(told, ["AddOnApplied", "AddOnApplied"]);
});

test("B46 nothing is written before the cluster answers, while it is paused or deleted, or where its control plane was never there", async () => {
  const { state, patched, reconcile, client } = bench(["network", "cloud-controller"]);
  const usable = state.cluster!;
  const unusable: (Cluster | undefined)[] = [
    undefined,
    { ...usable, status: { initialization: { controlPlaneInitialized: false } } },
    { ...usable, status: undefined },
    { ...usable, spec: { ...usable.spec, paused: true } },
    { ...usable, metadata: { ...usable.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
  ] as (Cluster | undefined)[];
  for (const cluster of unusable) {
    state.cluster = cluster;
    await reconcile();
    assert.deepEqual(patched, [], JSON.stringify(cluster));
  }
  state.cluster = usable;
  state.client = undefined;
  await reconcile();
  assert.deepEqual(patched, []);
  state.client = client();
  await reconcile();
  assert.deepEqual(patched, NETWORK);
});

test("B46 a Node gets its Machine's facts where the Machine is the cluster's and has a provider's id, its status first", async () => {
  const { state, patched, reconcile } = bench(["cloud-controller"]);
  const machine = (name: string, clusterName: string, providerID?: string): Machine =>
    ({ metadata: { name, namespace: "fleet" }, spec: { clusterName, ...(providerID && { providerID }) } }) as Machine;
  state.machines = [machine("a", "metal", "id://a"), machine("b", "other", "id://b"), machine("c", "metal")];
  const node = (name: string): KubeObject =>
    ({ metadata: { name }, spec: { taints: [TAINT] } }) as unknown as KubeObject;
  state.nodes = { "id://a": [node("one")], "id://b": [node("two")] };
  await reconcile();
  assert.deepEqual(patched, ["Node/one/status", "Node/one"]);
  patched.length = 0;
  state.nodes = { "id://a": [node("one"), node("liar")] };
  await reconcile();
  assert.deepEqual(patched, [], "of two Nodes with one id none gets the Machine's facts");
});

test("B46 a refusal is an event with what to do; a conflict and a lost lead are not worth one", async () => {
  const { told, refuse, reconcile } = bench(["network"]);
  refuse(new Fault("Forbidden", "ClusterRole", "not allowed", { remedy: "grant it" }));
  await assert.rejects(reconcile(), /not allowed/);
  assert.deepEqual(told, ["AddOnsFailed: ClusterRole: not allowed; grant it"]);
  for (const code of ["Conflict", "NotLeader", "Undeclared"] as const) {
    refuse(new Fault(code, "ClusterRole", "not now"));
    await assert.rejects(reconcile(), /not now/);
  }
  assert.equal(told.length, 1);
});

test("B46 a change that add-ons depend on is one to look at, and no other", () => {
  const { controller, state } = bench([]);
  const [ofCluster, ofMachine] = controller.sources;
  const cluster = state.cluster!;
  const annotated = { ...cluster, metadata: { ...cluster.metadata, annotations: { "slipway.dev/addons": "none" } } };
  const labelled = { ...cluster, metadata: { ...cluster.metadata, labels: { a: "b" } } };
  assert.deepEqual(
    [annotated, labelled].map((before) => ofCluster!.when!(cluster, before as KubeObject)),
    [true, false],
  );
  const machine = {
    metadata: { name: "m", namespace: "fleet" },
    spec: { clusterName: "metal" },
  } as unknown as KubeObject;
  const known = { ...machine, spec: { clusterName: "metal", providerID: "id://m" } };
  assert.deepEqual(
    [known, { ...machine }].map((before) => ofMachine!.when!(machine, before as KubeObject)),
    [true, false],
  );
  assert.deepEqual(ofMachine!.keys!(machine, undefined, undefined as never), [REF]);
});

test("B46 who gives add-ons may read the kubeconfigs of workload clusters, and nothing more beside its watches", () => {
  const ports = { workloads: {} } as SystemPorts;
  assert.deepEqual(clusterAddons.parts(ports, {}).access, [...KUBECONFIG_ACCESS]);
});
