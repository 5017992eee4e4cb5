/** Pools on hosts of the cluster's own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { DISCOVERY_NAMESPACE } from "../../src/netboot/settings.ts";
import { using } from "./using.ts";

test("H32 a pool gets its machines from hosts of the cluster's own, and gives them back wiped and off", () =>
  using({ provider: "inventory" }, async (world) => {
    await world.pool("rack", { count: 3 });
    await world.until("ready", () => world.converged());
    assert.equal((await world.nodes()).length, 3);
    assert.equal(world.cloud.machines().length, 3);
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("nothing is left", async () => (await world.instances()).length === 0);
    assert.deepEqual(world.cloud.machines(), []);
    assert.deepEqual(await world.nodes(), []);
    for (const { disks } of world.own.rack.servers.values()) assert.equal(disks[0]!.content, undefined);
    const { items } = await world.client.list(Secret, { namespace: DISCOVERY_NAMESPACE });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["bmc"],
    );
  }));
