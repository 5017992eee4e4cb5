/** Pools on own hosts, and an operator that dies at any effect of their life. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { numbers, sampled } from "./api.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { type Death, successor } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { HOUR, SECOND } from "./world.ts";

/** A pool's life on three hosts that are available: one machine, two, none. Resolves with the effects of the process that was to die. */
async function life(death?: Death): Promise<number> {
  const world = await HarvesterWorld.create({ seed: 7, provider: "inventory", servers: { sg: 3, ny: 0 } });
  try {
    await world.operator();
    world.kill();
    const first = await world.operator(death === undefined ? {} : { death });
    const replaceDead = successor(first.mortal, () => world.operator());
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(
        what,
        async () => {
          await replaceDead();
          await assertInvariants(world);
          await world.own.check();
          return await holds();
        },
        4 * HOUR,
        30 * SECOND,
      );

    await world.pool("rack", { count: 1 });
    await until("one machine has joined", () => world.converged());
    const body = { spec: { count: 2 } };
    await world.whileTimePasses(world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body }));
    await until("two machines have joined", async () => (await world.converged()) && world.cloud.bought() > 1);
    await assertConverged(world, 2);
    await world.whileTimePasses(world.client.delete(InstancePool, { name: "rack" }));
    await until("nothing is left", async () => (await world.instances()).length === 0);
    await world.own.checkAllFree();
    assert.equal(world.cloud.bought(), 2, "nobody has two hosts");
    return first.mortal.effects;
  } finally {
    await world.close();
  }
}

test("H1 H2 H27 the operator may die before or after any effect of a pool's life on own hosts: nobody has two, and all end free", async (t) => {
  const effects = await life();
  assert.ok(effects > 40, `${effects} effects`);
  for (const when of ["before", "after"] as const)
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env))
      await t.test(`${when} effect ${atEffect} of ${effects}`, async () => {
        await life({ atEffect, when });
      });
});
