import assert from "node:assert/strict";
import type { World } from "./world.ts";

/** What must hold at every moment, whatever fails: nothing bought twice, nothing in use released. */
export async function assertInvariants(world: World): Promise<void> {
  const claims = new Map<string, string[]>();
  for (const device of world.equinix.devices()) {
    const claim = device.tags.find((tag) => tag.startsWith("slipway:claim:"));
    assert.ok(claim, `device ${device.hostname} carries no claim`);
    if (device.state !== "deprovisioning") claims.set(claim, [...(claims.get(claim) ?? []), device.id]);
  }
  for (const [claim, ids] of claims) assert.equal(ids.length, 1, `${claim} has ${ids.length} machines`);
}

/** What must hold in the end: as many machines as wanted, each an Instance's own, and nothing else. */
export async function assertConverged(world: World, wanted: number): Promise<void> {
  const instances = await world.instances();
  assert.equal(instances.length, wanted);
  const bought = new Set(world.equinix.devices().map((device) => device.id));
  assert.deepEqual(new Set(instances.map((instance) => instance.status?.instanceID)), bought);
  const nodes = (await world.nodes()).map((node) => node.metadata.name).sort();
  assert.deepEqual(nodes, instances.map((instance) => instance.metadata.name).sort());
}
