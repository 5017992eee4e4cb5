/** The manifests of 2019 as slipway convert writes them, and an operator that dies at any effect of their life. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { numbers, sampled } from "./api.ts";
import { type Death, successor } from "./mortal.ts";
import { OLD_MANIFESTS, PlunderWorld } from "./plunder-world.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { HOUR, SECOND } from "./world.ts";

/** A cluster's life on two hosts: both Machines run, both are deleted. Resolves with the effects of the process that was to die. */
async function life(death?: Death): Promise<number> {
  const world = await PlunderWorld.create({ seed: 7, servers: { sg: 2, ny: 0 } });
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
          await world.own.check();
          return await holds();
        },
        4 * HOUR,
        30 * SECOND,
      );
    await world.createTodays(OLD_MANIFESTS);
    await until("both run", async () => (await world.machines()).every(({ status }) => status?.phase === "Running"));
    assert.equal(world.own.cloud.machines().length, 2);
    for (const name of ["controlplane", "worker"]) await world.remove(Machine, name);
    await until("nothing is left", async () => (await world.plunderMachines()).length === 0);
    await world.own.checkAllFree();
    assert.equal(world.own.cloud.bought(), 2, "nobody has two hosts");
    return first.mortal.effects;
  } finally {
    await world.close();
  }
}

test("N38 N42 the operator may die before or after any effect of a cluster's life: nobody has two hosts, and all end wiped and free", async (t) => {
  const effects = await life();
  assert.ok(effects > 40, `${effects} effects`);
  for (const when of ["before", "after"] as const)
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env))
      await t.test(`${when} effect ${atEffect} of ${effects}`, async () => void (await life({ atEffect, when })));
});
