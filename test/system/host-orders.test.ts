/** `slipway power`, `inspect`, `wipe` and `release`: what a user has a host do, on simulated servers in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { hostOrder } from "../../src/inventory/host-order.ts";
import { type HostOrder, inspect, power, release, reset, wipe } from "../../src/inventory/user-orders.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, InventoryWorld, MINUTE } from "./inventory-world.ts";

interface Bench {
  world: InventoryWorld;
  /** Orders it, and resolves with what was printed. */
  order(order: HostOrder, more?: { host?: string; wait?: boolean; timeoutMs?: number }): Promise<string[]>;
}

async function bench(t: TestContext): Promise<Bench> {
  const world = await InventoryWorld.create();
  t.after(() => world.close());
  await world.start();
  const { client, clock } = world;
  return {
    world,
    async order(order, { host = "node-1", wait = true, timeoutMs = 60 * MINUTE } = {}) {
      const said: string[] = [];
      const ports = { client, clock, say: (line: string) => void said.push(line) };
      let isOver = false;
      const ordered = hostOrder({ host, order, wait, timeoutMs }, ports).finally(() => {
        isOver = true;
      });
      ordered.catch(() => {});
      await world.clock.run(90 * MINUTE, () => isOver);
      await ordered;
      return said;
    },
  };
}

test("power goes off and on, and is kept so; a reset ends in a host that is on", async (t) => {
  const { world, order } = await bench(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  assert.equal((await order(power(false))).at(-1), "done");
  assert.equal(server.isOn, false);
  await assert.rejects(order(reset({ hard: true })), /it is to be off/);
  assert.equal((await order(power(true), { host: server.mac.toUpperCase() })).at(-1), "done");
  assert.equal(server.isOn, true);
  const { starts } = server;
  assert.equal((await order(reset({ hard: true }))).at(-1), "done");
  assert.deepEqual([server.isOn, server.starts], [true, starts + 1]);
});

test("a wipe wipes a host that nobody uses, shows each step, and leaves it available", async (t) => {
  const { world, order } = await bench(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  server.disks[0]!.content = LEFT_OVER;
  const said = await order(wipe);
  assert.equal(server.disks[0]?.content, undefined);
  assert.ok(
    said.some((line) => /^preparing: waits for the agent to end "wipe"/.test(line)),
    said.join("\n"),
  );
  assert.equal(said.at(-1), "done");
  assert.equal((await world.host("node-1"))?.metadata.annotations?.["slipway.dev/wipe"], undefined);
  assert.equal((await order(inspect)).at(-1), "done");
});

test("a release takes away what is installed, wipes it, and ends when others may have it", async (t) => {
  const { world, order } = await bench(t);
  const server = world.rack("node-1");
  const consumerRef = { apiVersion: "v1", kind: "ConfigMap", name: "mine", namespace: "default" };
  await world.declare("node-1", { image: IMAGE, consumerRef });
  await world.reaches("node-1", "provisioned");
  for (const each of [wipe, inspect]) await assert.rejects(order(each), /it is in use: by ConfigMap mine/);
  await assert.rejects(order(release({ force: false })), /it is used by ConfigMap mine/);
  assert.equal((await order(release({ force: true }))).at(-1), "done");
  assert.equal(server.disks[0]?.content, undefined);
  const host = await world.host("node-1");
  assert.deepEqual([host?.spec.consumerRef, host?.spec.image], [undefined, undefined]);
});

test("what a host would not do is refused with what to do instead, and nothing is written", async (t) => {
  const { world, order } = await bench(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { bmc: false });
  await world.reaches("node-1", "unmanaged");
  await assert.rejects(order(wipe), /it is not managed: it waits for spec\.bmc, or the machine to start/);
  server.on();
  await world.reaches("node-1", "available");
  await assert.rejects(order(power(false)), /it has no BMC/);
  for (const [name, message] of [
    ["baremetalhost.metal3.io/paused", /it is paused/],
    ["baremetalhost.metal3.io/detached", /it is detached/],
  ] as const) {
    await world.change("node-1", { metadata: { annotations: { [name]: "" } } });
    await assert.rejects(order(wipe), message);
    await world.change("node-1", { metadata: { annotations: { [name]: null } } });
  }
  await assert.rejects(order(wipe, { host: "node-9" }), /there is no such BareMetalHost/);
  assert.equal((await world.host("node-1"))?.metadata.annotations?.["slipway.dev/wipe"], undefined);
});

test("N33 who does not wait is answered that it is asked for; who waits in vain learns for what", async (t) => {
  const { world, order } = await bench(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { bmc: false });
  server.on();
  await world.reaches("node-1", "available");
  server.off();
  await world.clock.run(3 * MINUTE);
  await assert.rejects(
    order(wipe, { timeoutMs: 5 * MINUTE }),
    /not done within 5m0s: preparing: waits for somebody to start the machine from the network/,
  );
  assert.deepEqual(await order(release({ force: false }), { wait: false }), ["asked for"]);
});
