/** Add-ons of workload clusters (B46), under the light core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { clusterAddons } from "../../src/systems/cluster-addons/system.ts";
import { clusterApi } from "../../src/systems/cluster-api/system.ts";
import { CLUSTER, CoreWorld, NAMESPACE } from "./cluster-api-world.ts";

const UNINITIALIZED = { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" as const };
const DaemonSet: Resource = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };
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
