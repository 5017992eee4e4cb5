import assert from "node:assert/strict";
import { test } from "node:test";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { numbers, sampled } from "./api.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

/** A pool's life: two machines, one of them with two installations, grown to three, shrunk to one, deleted. Returns how many effects it took. */
async function life(death?: Death): Promise<{ effects: number; died: boolean }> {
  const world = await HarvesterWorld.create({ seed: 7 });
  try {
    const first = await world.operator(death === undefined ? {} : { death });
    const alive = async (): Promise<void> => {
      if (first.mortal.dead && !restarted) {
        restarted = true;
        await world.operator();
      }
    };
    let restarted = false;
    const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
      world.until(
        what,
        async () => {
          await alive();
          await assertInvariants(world);
          return await holds();
        },
        4 * HOUR,
        30 * SECOND,
      );
    const scale = (count: number) =>
      world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count } } });

    await world.pool("rack", { count: 2, installMode: "TwoPass" });
    await until("two machines have joined", () => world.converged());
    await assertConverged(world, 2);
    await scale(3);
    await until("three machines have joined", () => world.converged());
    await assertConverged(world, 3);
    await scale(1);
    await until("one machine is left", async () => (await world.instances()).length === 1 && (await world.converged()));
    await assertConverged(world, 1);
    await world.client.delete(InstancePool, { name: "rack" });
    await until("nothing is left", async () => (await world.instances()).length === 0);
    await world.clock.run(2 * MINUTE);
    await assertConverged(world, 0);
    assert.equal(world.cloud.bought(), 3, "no machine is bought twice");
    return { effects: first.mortal.effects, died: first.mortal.dead };
  } finally {
    await world.close();
  }
}

/** Every effect of a pool's life as the place to die. */
async function everyDeath(when: Death["when"]): Promise<void> {
  const { effects } = await life();
  assert.ok(effects > 40, `the life has effects to die at: ${effects}`);
  for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env)) {
    try {
      await life({ atEffect, when });
    } catch (error) {
      throw new Error(`dying ${when} effect ${atEffect} of ${effects}`, { cause: error });
    }
  }
}

test("H1 H2 H27 the operator may die just before any effect of a pool's life: it ends with exactly the machines wanted", () =>
  everyDeath("before"));
test("H1 H2 H27 the operator may die just after any effect, its answer unread: it ends with exactly the machines wanted", () =>
  everyDeath("after"));
