import assert from "node:assert/strict";
import { test } from "node:test";
import { IMAGE, InventoryWorld, MINUTE } from "./inventory-world.ts";

test("a declared host with a BMC becomes available, is installed, wiped, and deleted, and says each step", async (t) => {
  const world = await InventoryWorld.create();
  t.after(() => world.close());
  const server = world.rack("node-1");
  server.disks[0]!.content = { image: "left by somebody", data: {} };
  await world.start();
  await world.declare("node-1");
  const available = await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
  assert.equal(available.status?.operationalStatus, "OK");
  assert.equal(available.status?.hardware?.storage?.length, 1);

  await world.change("node-1", { spec: { image: IMAGE } });
  const provisioned = await world.reaches("node-1", "provisioned");
  assert.equal(provisioned.status?.provisioning?.image?.url, IMAGE.url);
  await world.until("the system runs", () => server.running?.is === "system");

  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);

  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 30 * MINUTE);
  assert.equal(server.isOn, false);
});
