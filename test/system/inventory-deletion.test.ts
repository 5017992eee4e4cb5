/** Hosts that are let go, whatever they are doing and whoever has gone first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, type InventoryWorld, MINUTE, rack, SECOND } from "./inventory-world.ts";
import { PROFILES, profile } from "./profiles.ts";

/** A deletion in whatever state: longer than any wipe takes, and shorter than the three hours after which one is given up. */
const BOUND = 60 * MINUTE;

/** How a host comes into each state. */
const STATES: Readonly<Record<string, (world: InventoryWorld) => Promise<unknown>>> = {
  // Its BMC knows another password.
  registering(world) {
    world.rotate("node-1", "another");
    return world.declare("node-1");
  },
  inspecting: (world) => world.declare("node-1"),
  preparing: (world) => world.declare("node-1"),
  available: (world) => world.declare("node-1"),
  provisioning: (world) => world.declare("node-1", { image: IMAGE }),
  provisioned: (world) => world.declare("node-1", { image: IMAGE }),
  async deprovisioning(world) {
    await world.declare("node-1", { image: IMAGE });
    await world.reaches("node-1", "provisioned");
    await world.change("node-1", { spec: { image: null } });
  },
};

/** Lets time pass in small steps until the host is in the state, however short it is. */
async function catches(world: InventoryWorld, state: string): Promise<void> {
  for (let step = 0; step < 10_000; step++) {
    if ((await world.host("node-1"))?.status?.provisioning?.state === state) return;
    await world.clock.run(SECOND);
  }
  assert.fail(`never ${state}\n${await world.story()}`);
}

async function isGone(world: InventoryWorld, forMs = BOUND): Promise<void> {
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, forMs);
}

for (const [state, comeTo] of Object.entries(STATES))
  test(`N33 N34 a host that is deleted while it is ${state} is gone within the hour, off, with no user's data on its disk`, async (t) => {
    const world = await rack(t);
    const server = world.rack("node-1");
    await comeTo(world);
    await catches(world, state);
    await isGone(world);
    assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined]);
  });

test("N35 a deletion ends though netboot serves nobody any more, and says that the disks are not wiped", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await installed(world);
  world.serving = false;
  await world.remove("node-1");
  await world.until("it says so", async () =>
    /netboot to serve/.test((await world.host("node-1"))?.status?.waitingFor ?? ""),
  );
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 200 * MINUTE);
  assert.equal(server.isOn, false);
  assert.equal(server.disks[0]?.content?.image, IMAGE.url);
  assert.ok((await world.events("node-1")).some((event) => /NotWiped: /.test(event)));
});

test("N35 a netboot that serves again in time wipes what was deleted meanwhile", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await installed(world);
  world.serving = false;
  await world.remove("node-1");
  await world.clock.run(90 * MINUTE);
  assert.deepEqual([server.isOn, server.disks[0]?.content?.image], [true, IMAGE.url], "nobody touches it meanwhile");
  world.serving = true;
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined]);
});

test("N35 a host whose consumer is gone without a word is deleted as any other, and wiped", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  const consumerRef = { apiVersion: "cluster.invalid/v1", kind: "Machine", name: "gone", namespace: "gone" };
  await installed(world, { consumerRef });
  await isGone(world);
  assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined]);
});

test("N25 the last host can be let go like any other; its script and its files are nobody's, and its machine is not installed again", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  await profile(world, "system", PROFILES.preseed);
  const asked: string[] = [];
  const { web } = world.network;
  world.network.web = (request) => {
    asked.push(request.url);
    return web(request);
  };
  await world.declare("node-1", { customDeploy: { method: "preseed/system" } });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  assert.ok(asked.length > 0);
  await isGone(world);
  assert.deepEqual(await world.hosts(), []);
  for (const url of asked)
    assert.equal((await web({ method: "GET", url, headers: {}, remote: server.address })).status, 404, url);
  assert.equal(world.provisioning.hosts.bootOf(server.mac), "agent");
  server.on();
  await world.clock.run(30 * MINUTE);
  assert.deepEqual([server.running?.is, server.disks[0]?.content], ["agent", undefined]);
});

/** Declares the host, and resolves once its system runs. */
async function installed(world: InventoryWorld, more: object = {}): Promise<void> {
  await world.declare("node-1", { image: IMAGE, ...more });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => world.servers.get("node-1")!.running?.is === "system");
}
