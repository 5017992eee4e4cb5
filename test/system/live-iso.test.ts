/** Hosts that run an image from their BMC's virtual drive, by direct call and by Redfish, as it should be and as it is. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { LieName } from "../../src/sim/bmc/sim-bmc.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, InventoryWorld, MINUTE } from "./inventory-world.ts";

const LIVE = { url: "http://images.invalid/live.iso", format: "live-iso" } as const;

async function rack(t: TestContext, redfish: boolean): Promise<InventoryWorld> {
  const world = await InventoryWorld.create({ redfish });
  t.after(() => world.close());
  await world.start();
  return world;
}

const runs = (world: InventoryWorld, image: string) => () => {
  const { running } = world.servers.get("node-1")!;
  return running?.is === "system" && running.image === image;
};

for (const redfish of [false, true])
  test(`a live image runs from the virtual drive, again after a power-off, and is taken out ${redfish ? "by Redfish" : ""}`, async (t) => {
    const world = await rack(t, redfish);
    const server = world.rack("node-1");
    const media = () => (redfish ? world.redfish.machines.get("node-1")!.media() : server.media);
    await world.declare("node-1", { scheme: "redfish-virtualmedia" });
    await world.reaches("node-1", "available");
    server.disks[0]!.content = LEFT_OVER;
    await world.change("node-1", { spec: { image: LIVE } });
    const { status } = await world.reaches("node-1", "provisioned");
    assert.equal(status?.provisioning?.image?.format, "live-iso");
    await world.until("it runs", runs(world, LIVE.url));
    assert.deepEqual([media(), server.disks[0]?.content], [LIVE.url, LEFT_OVER], "no disk is touched");

    await world.change("node-1", { spec: { online: false } });
    await world.until("it is off", () => !server.isOn);
    await world.change("node-1", { spec: { online: true } });
    await world.until("it runs again", runs(world, LIVE.url));

    await world.change("node-1", { spec: { image: { ...IMAGE, format: "raw" } } });
    await world.until("it runs what is installed", runs(world, IMAGE.url));
    assert.equal(media(), undefined);
    await world.remove("node-1");
    await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
    assert.deepEqual([server.isOn, server.disks[0]?.content, media()], [false, undefined, undefined]);
  });

test("a live image that is given up before it has started leaves nothing in the drive", async (t) => {
  const world = await rack(t, true);
  world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const sim = world.redfish.sims.get("node-1")!;
  sim.lie("ignores-boot");
  await world.change("node-1", { spec: { image: LIVE } });
  await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  sim.lie();
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  assert.equal(world.redfish.machines.get("node-1")!.media(), undefined);
});

/** Lies about media, which are seen through. */
const MEDIA: readonly LieName[] = ["ignores-media"];
for (const lie of MEDIA)
  test(`a BMC that ${lie}: the host says so until the BMC is mended`, async (t) => {
    const world = await rack(t, true);
    world.rack("node-1");
    await world.declare("node-1");
    await world.reaches("node-1", "available");
    const sim = world.redfish.sims.get("node-1")!;
    sim.lie(lie);
    await world.change("node-1", { spec: { image: LIVE } });
    await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
    const { status } = (await world.host("node-1"))!;
    assert.match(status?.errorMessage ?? "", /virtual media/);
    assert.notEqual(status?.provisioning?.state, "provisioned");
    sim.lie();
    await world.reaches("node-1", "provisioned");
    await world.until("it runs", runs(world, LIVE.url));
  });

test("what can't run an image from a drive is an error with the field, and is given back", async (t) => {
  const world = await rack(t, false);
  const server = world.rack("node-1");
  await world.declare("node-1", { bmc: false });
  server.on();
  await world.reaches("node-1", "available");
  await world.change("node-1", { spec: { image: LIVE } });
  const says = (pattern: RegExp) => async () => pattern.test((await world.host("node-1"))?.status?.errorMessage ?? "");
  await world.until("it says so", says(/spec\.image\.format: live-iso is started by a BMC, and the host has none/));
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available", 30 * MINUTE);
});
