/** The machine's clock is set forward or back by an hour while everything is under way: nothing is given up, nobody leads twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LEASE_TIMES } from "@slipway/kube";
import { HARVESTER } from "../../src/systems/harvester/names.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { HOUR, MINUTE, type RunningOperator, SECOND } from "./world.ts";

const leads = ({ manager }: RunningOperator): boolean => manager.leading(HARVESTER);

for (const [direction, stepMs] of [
  ["forward", HOUR],
  ["back", -HOUR],
] as const) {
  test(`H26 a clock set ${direction} by an hour leaves one leader; when that one dies, the other takes over in the usual time`, async () => {
    const world = await HarvesterWorld.create({ seed: 26 });
    try {
      const replicas = [await world.operator({ election: true }), await world.operator({ election: true })];
      await world.until("one leads", () => replicas.filter(leads).length === 1, MINUTE, SECOND);
      const leader = replicas.find(leads)!;
      const other = replicas.find((replica) => replica !== leader)!;
      world.clock.step(stepMs);
      for (let i = 0; i < 120; i++) {
        await world.clock.run(SECOND / 2);
        assert.ok(leads(leader) && !leads(other), `after ${i / 2} s the same one leads, alone`);
      }
      leader.mortal.kill();
      world.clock.step(stepMs);
      const began = world.clock.monotonic();
      await world.until("the other leads", () => leads(other), 5 * MINUTE, SECOND / 2);
      const took = world.clock.monotonic() - began;
      assert.ok(took <= LEASE_TIMES.leaseMs + 5 * SECOND, `taken over after ${took} ms`);
    } finally {
      await world.close();
    }
  });

  test(`a clock set ${direction} by an hour, wherever machines are on their way, gives none up and buys none twice`, async () => {
    for (const at of [30 * SECOND, 4 * MINUTE, 12 * MINUTE]) {
      const world = await HarvesterWorld.create({ seed: 7 });
      try {
        await world.operator();
        await world.pool("rack", { count: 3 });
        await world.clock.run(at);
        world.clock.step(stepMs);
        await world.until(`3 machines have joined, clock set after ${at / SECOND} s`, async () => {
          await assertInvariants(world);
          return (await world.instances()).length === 3 && (await world.converged());
        });
        await assertConverged(world, 3);
        assert.equal(world.equinix.boughtEver().length, 3, "no machine is bought twice");
      } finally {
        await world.close();
      }
    }
  });
}
