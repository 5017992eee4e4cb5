import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { checkRack, LEFT_OVER } from "./inventory-life.ts";
import { LIVES, type Life } from "./inventory-lives.ts";
import { InventoryWorld } from "./inventory-world.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";

/** Plays a life in which the first process dies, if at all, as `death` says. Resolves with the effects that it had. */
async function lifeWith(play: Life, death: Death | undefined): Promise<number> {
  const world = await InventoryWorld.create();
  try {
    const server = world.rack("node-1");
    server.disks[0]!.content = LEFT_OVER;
    let mortal = await world.start(death && { death });
    const first = mortal;
    await play(world, "node-1", async () => {
      await checkRack(world);
      if (!mortal.dead) return;
      world.kill();
      mortal = await world.start();
    });
    assert.equal(server.disks[0]?.content, undefined, "the last user's disk is wiped");
    if (world.hasBmc("node-1")) assert.equal(server.isOn, false, "it is off");
    return first.effects;
  } finally {
    await world.close();
  }
}

for (const [whose, play] of Object.entries(LIVES))
  test(`a process that dies before or after any effect of the life of ${whose} is replaced, and the life goes on`, async (t) => {
    const effects = await lifeWith(play, undefined);
    assert.ok(effects > 20, `${effects} effects`);
    for (const when of ["before", "after"] as const)
      for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env))
        await t.test(`${when} effect ${atEffect}`, async () => {
          await lifeWith(play, { atEffect, when });
        });
  });
