import assert from "node:assert/strict";
import type { HarvesterWorld } from "./harvester-world.ts";

/** What must hold at every moment, whatever fails: every machine is some Instance's own, and none has two. Instances' names are never used twice. */
export async function assertInvariants(world: HarvesterWorld): Promise<void> {
  const names = world.cloud.machines().flatMap((machine) => (machine.wanted ? [machine.hostname] : []));
  assert.deepEqual(names, [...new Set(names)], "an Instance has two machines");
}

/** What must hold in the end: as many machines as wanted, each an Instance's own, and nothing else. */
export async function assertConverged(world: HarvesterWorld, wanted: number): Promise<void> {
  const instances = await world.instances();
  assert.equal(instances.length, wanted);
  const machines = new Set(world.cloud.machines().map(({ id }) => id));
  assert.deepEqual(new Set(instances.map((instance) => instance.status?.instanceID)), machines);
  const nodes = (await world.nodes()).map((node) => node.metadata.name).sort();
  assert.deepEqual(nodes, instances.map((instance) => instance.metadata.name).sort());
}
