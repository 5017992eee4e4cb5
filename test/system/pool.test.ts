import assert from "node:assert/strict";
import { test } from "node:test";
import { HarvesterWorld } from "./harvester-world.ts";

test("the addon's manifests become ready: every machine is bought once, installed and joined", async () => {
  const world = await HarvesterWorld.create();
  await world.operator();
  await world.apply(
    "examples/harvester/instancepool.yaml",
    "examples/harvester/instancepool-network.yaml",
    "examples/harvester/instancepool-latitude.yaml",
  );

  await world.until("all pools are ready", () => world.converged());
  const instances = await world.instances();
  assert.equal(instances.length, 4);
  for (const { metadata, status } of instances)
    assert.ok(!("drift" in status!), `${metadata.name} fits its pool, and its status names no drift`);
  assert.equal(world.equinix.boughtEver().length, 2);
  assert.equal(world.latitude.boughtEver().length, 2);
  await world.close();
});
