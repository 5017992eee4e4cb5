/** plunder's manifests of 2019 as `slipway convert` writes them: on every API server, under any core. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { CLUSTER, inPlunderWorld, OLD_MANIFESTS } from "./plunder-world.ts";

test("N45 N46 N47 what slipway convert writes of the manifests of 2019 becomes a cluster with a Node for each Machine, and wiped hosts at the end", () =>
  inPlunderWorld(async (world) => {
    await world.createTodays(...OLD_MANIFESTS);
    await world.untilRunning(2);
    const machines = await world.machines();
    const ids = machines.map(({ spec }) => spec.providerID).toSorted();
    for (const id of ids) assert.match(String(id), /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    assert.deepEqual((await world.nodes()).map(({ spec }) => spec?.providerID).toSorted(), ids);
    for (const { metadata, status } of await world.plunderMachines()) {
      const [namespace, name] = status!.host!.split("/");
      const host = (await world.own.hosts()).find((one) => one.metadata.name === name);
      assert.deepEqual([host?.metadata.namespace, host?.spec.consumerRef?.name], [namespace, metadata.name]);
      assert.ok(
        (await world.told(metadata.name)).some((one) => /^PlunderInstall: Task has been succesfully/.test(one)),
      );
    }
    await world.remove(Cluster, CLUSTER);
    await world.untilGone();
    const left = async () => [
      ...(await world.whileTimePasses(world.client.list(Cluster))).items,
      ...(await world.whileTimePasses(world.client.list(PlunderCluster))).items,
    ];
    await world.until("the clusters are gone", async () => (await left()).length === 0);
    await world.own.checkAllFree();
  }));
