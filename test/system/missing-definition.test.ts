import assert from "node:assert/strict";
import { test } from "node:test";
import { isTrue } from "@slipway/kube";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { MINUTE } from "./world.ts";

test("without InstancePool's definition MachineProviders work; once it is installed, pools get their machines without a restart", async () => {
  const world = await HarvesterWorld.create({ without: [InstancePool] });
  const { manager } = await world.operator();
  const spec = { type: "equinix" as const, credentialsSecretRef: { name: "equinix-addon" } };
  await world.whileTimePasses(world.client.create(MachineProvider, { metadata: { name: "metal" }, spec }));
  await world.until("the provider is usable", async () => {
    const { status } = await world.whileTimePasses(world.client.get(MachineProvider, { name: "metal" }));
    return isTrue(status?.conditions, "Ready");
  });
  await world.clock.run(10 * MINUTE);
  const { live, reached, ready, systems } = manager.health();
  assert.deepEqual([live, reached, ready], [true, true, false]);
  assert.deepEqual(
    systems.map((of) => [of.system, of.ready, of.waiting.map(({ kind, missing }) => [kind, missing])]),
    [
      ["harvester", false, [["instancepools.equinix.harvesterhci.io", true]]],
      // Hosts of the cluster's own are no condition for the rest.
      ["providers", true, [["baremetalhosts.metal3.io", true]]],
    ],
  );
  const remedies = world.logged.filter((line) =>
    line.includes("deploy/crds/equinix.harvesterhci.io_instancepools.yaml"),
  );
  assert.equal(remedies.length, 1);

  await world.install([[InstancePool]]);
  await world.pool("rack", { count: 1 });
  await world.until("the pool is ready", async () => {
    const [pools, instances] = [await world.pools(), await world.instances()];
    return pools.length === 1 && instances.length === 1 && (await world.converged());
  });
  assert.equal(world.cloud.bought(), 1);
  assert.equal(manager.ready(), true);
  await world.close();
});
