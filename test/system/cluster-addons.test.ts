/** Add-ons of workload clusters (B46), under the light core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { clusterAddons } from "../../src/systems/cluster-addons/system.ts";
import { clusterApi } from "../../src/systems/cluster-api/system.ts";
import { CLUSTER, CoreWorld, NAMESPACE } from "./cluster-api-world.ts";
import { SECOND } from "./world.ts";

const UNINITIALIZED = { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" as const };
const DaemonSet: Resource = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
const addonEvents = async (world: CoreWorld): Promise<string[]> =>
  (await world.events())
    .filter(({ reason }) => reason?.startsWith("AddOn"))
    .map(({ reason, message, count }) => `${reason}: ${message}${(count ?? 1) > 1 ? ` (${count} times)` : ""}`);
const NETWORK = { namespace: "kube-system", name: "slipway-node-network" };

test("B46 a workload cluster gets its network, and a Node that waits for a cloud controller its Machine's addresses", async (t) => {
  const world = await CoreWorld.started(t, {
    systems: [clusterApi, clusterAddons],
    of: { "cluster-addons": { addons: "network,cloud-controller", networkImage: "registry.example/net:1" } },
  });
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const tenant = await world.whileTimePasses(world.provider.tenant(CLUSTER));
  await world.until(
    "the network is there",
    async () => (await world.whileTimePasses(tenant.find(DaemonSet, NETWORK))) !== undefined,
  );
  const [machine] = await world.machines();
  const ref = { name: machine!.status!.nodeRef!.name };
  const node = await world.whileTimePasses(tenant.get(Node, ref));
  // As a kubelet with an external cloud provider registers.
  await world.whileTimePasses(tenant.update(Node, { ...node, spec: { ...node.spec, taints: [UNINITIALIZED] } }));
  await world.until("the Node is initialized", async () => {
    const { spec } = await world.whileTimePasses(tenant.get(Node, ref));
    return (spec?.taints ?? []).every(({ key }) => key !== UNINITIALIZED.key);
  });
  const { status } = await world.whileTimePasses(tenant.get(Node, ref));
  assert.deepEqual(status?.addresses, [{ type: "InternalIP", address: "10.1.0.1" }]);
  assert.deepEqual(
    await addonEvents(world),
    ["AddOnApplied: the network is in the workload cluster"],
    "once, though much has woken it",
  );
});

test("B46 a wrong name in a Cluster's annotation is an event that says the right ones; a paused Cluster is left alone until it is not", async (t) => {
  const world = await CoreWorld.started(t, {
    systems: [clusterApi, clusterAddons],
    of: { "cluster-addons": { addons: "none", networkImage: "registry.example/net:1" } },
  });
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const annotate = async (annotations: Record<string, string | null>): Promise<void> => {
    const body = { metadata: { annotations } };
    await world.client.patch(Cluster, { namespace: NAMESPACE, name: CLUSTER }, { type: "merge", body });
  };
  const tenant = await world.whileTimePasses(world.provider.tenant(CLUSTER));
  const hasNetwork = async (): Promise<boolean> =>
    (await world.whileTimePasses(tenant.find(DaemonSet, NETWORK))) !== undefined;
  await annotate({ "slipway.dev/addons": "netwrok" });
  await world.until("the wrong name is told", async () => (await addonEvents(world)).length > 0);
  assert.match(
    (await addonEvents(world))[0]!,
    /^AddOnsFailed: .*there is no add-on netwrok; write network, cloud-controller or none/,
  );
  await annotate({ "slipway.dev/addons": "network", "cluster.x-k8s.io/paused": "" });
  await world.clock.run(30 * 60 * SECOND);
  assert.equal(await hasNetwork(), false, "paused");
  await annotate({ "cluster.x-k8s.io/paused": null });
  await world.until("the network is there", hasNetwork);
});

test("B46 no add-on is applied where the setting is none", async (t) => {
  const world = await CoreWorld.started(t, {
    systems: [clusterApi, clusterAddons],
    of: { "cluster-addons": { addons: "none", networkImage: "registry.example/net:1" } },
  });
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const tenant = await world.whileTimePasses(world.provider.tenant(CLUSTER));
  assert.equal(await world.whileTimePasses(tenant.find(DaemonSet, NETWORK)), undefined, NAMESPACE);
});
