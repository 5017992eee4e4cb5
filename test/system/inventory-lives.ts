/** The ways in which a host lives, from its declaration to its deletion. */
import assert from "node:assert/strict";
import { playInstallerLife, playLife } from "./inventory-life.ts";
import type { InventoryWorld } from "./inventory-world.ts";

/** What is played of a host; `watch` is called every few seconds. */
export type Life = (world: InventoryWorld, name: string, watch: () => Promise<void>) => Promise<void>;

export const LIVES: Readonly<Record<string, Life>> = {
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
