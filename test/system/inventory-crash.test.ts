import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { checkRack, LEFT_OVER, playInstallerLife, playLife } from "./inventory-life.ts";
import { InventoryWorld } from "./inventory-world.ts";
import type { Death } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";

/** What is played of a host; `watch` is called every few seconds. */
type Life = (world: InventoryWorld, name: string, watch: () => Promise<void>) => Promise<void>;

const LIVES: Readonly<Record<string, Life>> = {
  "a host": playLife,
  "a host with a BMC that an installer installs": (world, name, watch) =>
    playInstallerLife(world, name, { bmc: true, watch }),
  "a host without a BMC that an installer installs": (world, name, watch) =>
    playInstallerLife(world, name, { bmc: false, watch }),
  "a host that runs a live image": playLive,
  "a host whose agent comes from a CD": playFromCd,
};

async function playFromCd(world: InventoryWorld, name: string, watch: () => Promise<void>): Promise<void> {
  await playLife(world, name, watch, { scheme: "redfish-virtualmedia" });
  assert.equal(world.servers.get(name)!.media, undefined, "its drive is empty");
}

async function playLive(world: InventoryWorld, name: string, watch: () => Promise<void>): Promise<void> {
  const image = { url: "http://images.invalid/live.iso", format: "live-iso" } as const;
  const server = world.servers.get(name)!;
  await world.declare(name, { image });
  const until = (what: string, holds: () => Promise<boolean> | boolean): Promise<void> =>
    world.until(what, async () => {
      await watch();
      return await holds();
    });
  await until(
    `${name} is provisioned`,
    async () => (await world.host(name))?.status?.provisioning?.state === "provisioned",
  );
  await until(`${name} runs it`, () => server.running?.is === "system" && server.running.image === image.url);
  await world.remove(name);
  await until(`${name} is gone`, async () => (await world.host(name)) === undefined);
  assert.equal(server.media, undefined, "its drive is empty");
}

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
