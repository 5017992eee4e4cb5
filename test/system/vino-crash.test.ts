/** The life of a Vino with a death at each of its effects: nothing is given twice, and nothing is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { noneTwice } from "./vino-seed.ts";
import { sample, VinoWorld } from "./vino-world.ts";

/** Two nodes, a change of the count, and the end. */
async function life(world: VinoWorld): Promise<void> {
  await world.join("a");
  await world.join("b");
  await world.apply("test", sample({ workers: 1 }));
  await world.untilReady("test");
  await noneTwice(world);
  await world.apply("test", sample({ masters: 0, workers: 1 }));
  await world.untilReady("test");
  await noneTwice(world);
  await world.remove("test");
  await world.untilGone("test");
  await world.until("nothing is left", async () => (await world.left()).length === 0);
  for (const agent of world.agents.values()) assert.equal(agent.domains.size + agent.cores.size, 0);
}

/** Starts the process again whenever it has died. */
async function outlived(
  world: VinoWorld,
  work: Promise<void>,
  mortal: Awaited<ReturnType<VinoWorld["start"]>>,
): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  const again = async (): Promise<void> => {
    while (!isDone && !mortal.dead) await world.clock.sleep(500);
    if (isDone) return;
    world.kill();
    await world.start();
  };
  await Promise.all([done, again()]);
}

test("a life without a death has an effect to die at", async (t) => {
  const world = await VinoWorld.create();
  t.after(() => world.close());
  const mortal = await world.start();
  await life(world);
  assert.ok(mortal.effects > 30, `${mortal.effects} effects`);
});

for (const atEffect of sampled(numbers(1, 60).filter((n) => n % 6 === 1)))
  for (const when of ["before", "after"] as const)
    test(`an operator that dies ${when} effect ${atEffect} loses nothing, and gives nothing twice`, async (t) => {
      const world = await VinoWorld.create({ seed: atEffect });
      t.after(() => world.close());
      const mortal = await world.start({ atEffect, when });
      await outlived(world, life(world), mortal);
    });
