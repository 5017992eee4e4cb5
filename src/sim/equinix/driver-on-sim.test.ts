import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault, quietLog, seededRandom } from "@slipway/base";
import fc from "fast-check";
import { createEquinixDriver } from "../../machines/drivers/equinix/driver.ts";
import type { Machine, MachineDriver, Order } from "../../machines/machine.ts";
import { withFaults } from "../faults.ts";
import { DEFAULT_PROJECT } from "./options.ts";
import { order, rig } from "./rig.ts";

test("a machine is bought, found by its claim, read, listed and released", async () => {
  const { driver, until, clock, sim } = rig();
  const bought = await driver.create(order({ claim: "uid-7" }));
  assert.deepEqual([bought.claim, bought.phase], ["uid-7", "building"]);
  const running = await until(bought.id, "running");
  assert.deepEqual([running.plan, running.metro, running.addresses.length], ["c3.small.x86", "sg", 3]);
  assert.deepEqual(
    (await driver.find("uid-7")).map(({ id }) => id),
    [bought.id],
  );
  assert.deepEqual(await driver.find("uid"), []);
  assert.deepEqual(
    (await driver.list()).map(({ id }) => id),
    [bought.id],
  );

  await driver.release(bought.id, { force: false });
  assert.equal((await driver.read(bought.id))?.phase, "releasing");
  await clock.run(120_000);
  assert.equal(await driver.read(bought.id), undefined);
  await driver.release(bought.id, { force: false });
  assert.deepEqual(sim.devices(), []);
});

test("buying a machine costs one call, and so does looking at all of them", async () => {
  const { driver, sent } = rig();
  await driver.create(order());
  assert.equal(sent.length, 1);
  await driver.list();
  assert.equal(sent.length, 2);
});

test("a reinstallation puts what the next boot gets first, then asks for it", async () => {
  const { driver, until, clock, firmware, sent } = rig();
  const { id } = await driver.create(order());
  await until(id, "running");
  const calls = sent.length;
  await driver.reinstall(id, { scriptUrl: "https://boot.test/2", userData: "#cloud-config\n2" });
  assert.deepEqual(
    sent.slice(calls).map(({ method }) => method),
    ["PUT", "POST"],
  );
  assert.deepEqual(JSON.parse(sent.at(-1)!.body!), { type: "reinstall", preserve_data: true, deprovision_fast: true });
  await clock.run(5_000);
  assert.equal((await driver.read(id))?.phase, "reinstalling");
  await until(id, "running");
  assert.deepEqual(firmware.boots.at(-1)?.boot, { scriptUrl: "https://boot.test/2", userData: "#cloud-config\n2" });
});

test("switching on what is on, or off what is off, is no fault", async () => {
  const { driver, until, clock, sim } = rig();
  const { id } = await driver.create(order());
  await until(id, "running");
  await driver.power(id, "on");
  await driver.power(id, "off");
  await until(id, "stopped");
  await driver.power(id, "off");
  await driver.power(id, "on");
  await until(id, "running");
  await clock.run(60_000);
  await driver.power(id, "cycle");
  assert.equal(sim.device(id)?.state, "powering_on");
});

test("configuring changes only what is named", async () => {
  const { driver, sim, sent } = rig();
  const { id } = await driver.create(order());
  await driver.configure(id, { userData: "#cloud-config\nnew" });
  assert.deepEqual(
    [sim.device(id)?.userData, sim.device(id)?.scriptUrl],
    ["#cloud-config\nnew", "https://boot.test/script"],
  );
  const calls = sent.length;
  await driver.configure(id, {});
  assert.equal(sent.length, calls);
});

test("H8 a locked machine is not released, and the fault says so", async () => {
  const { driver, sim } = rig();
  const { id } = await driver.create(order());
  sim.device(id)!.locked = true;
  await assert.rejects(driver.release(id, { force: true }), { code: "Locked" });
});

test("a machine that may not be deleted yet is tried again later, not given up", async () => {
  const { driver } = rig({ faults: { refuseDeleteWhileProvisioning: true } });
  const { id } = await driver.create(order());
  await assert.rejects(
    driver.release(id, { force: true }),
    (error) => isFault(error, "Unavailable") && error.retryable,
  );
});

test("H22 missing capacity is distinguished from a wrong order", async () => {
  const { driver } = rig({ capacity: { "sg/c3.small.x86": 0 } });
  await assert.rejects(driver.create(order()), { code: "NoCapacity" });
  await assert.rejects(driver.create(order({ placement: { plan: "none", metro: "sg" } })), { code: "Invalid" });
});

test("H18 a key that no longer opens is reported with a remedy", async () => {
  const { driver, sim } = rig();
  sim.rotateKey("another");
  await assert.rejects(
    driver.list(),
    (error) => isFault(error, "BadCredentials") && /API key/.test(error.remedy ?? ""),
  );
});

test("an order with a fatal concern is not sent", async () => {
  const { driver, sent } = rig();
  await assert.rejects(driver.create(order({ customData: "{" })), { code: "Invalid" });
  assert.equal(sent.length, 0);
});

test("a device that the key may no longer see is gone; a key that sees nothing is a bad key", async () => {
  const forbidden = (path: RegExp) =>
    rig({
      wrap: (http) => async (request) =>
        path.test(request.url) ? { status: 403, headers: {}, body: '{"errors":["no access"]}' } : http(request),
    }).driver;
  assert.equal(await forbidden(/\/devices\/x\?/).read("x"), undefined);
  await assert.rejects(forbidden(/./).read("x"), { code: "BadCredentials" });
  await assert.rejects(forbidden(/./).release("x", { force: true }), { code: "BadCredentials" });
});

test("a project may be called by its name", async () => {
  const { sim, http, clock } = rig();
  const account = { endpoint: "https://metal.test/metal/v1", token: sim.token, planMapping: {}, metroMapping: {} };
  const named = (project: string): MachineDriver =>
    createEquinixDriver({ ...account, project }, { http, clock, log: quietLog });
  assert.deepEqual(await named(DEFAULT_PROJECT.name).list(), []);
  await assert.rejects(named("simulat").list(), { code: "MissingInput" });
});

/** What a careful caller does: looks before it orders, again after a lost answer, and waits while lists may be stale. */
async function buyOnce(driver: MachineDriver, wish: Order, sleep: (ms: number) => Promise<void>): Promise<Machine> {
  for (;;) {
    try {
      await sleep(31_000);
      const [found] = await driver.find(wish.claim);
      return found ?? (await driver.create(wish));
    } catch (error) {
      if (!isFault(error) || !error.retryable) throw error;
    }
  }
}

test("H1 whatever is lost on the way, a caller that looks by the claim buys exactly one machine", async () => {
  const rates = { lostAnswerAfterEffect: 0.15, lostBeforeEffect: 0.15, throttled: 0.1, serverError: 0.15, reset: 0.1 };
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const cloud = rig({
        faults: { staleListsMs: 30_000 },
        wrap: (http, clock) => withFaults(http, { random: seededRandom(seed), clock, rates }),
      });
      const claims = ["a", "b", "c"].map((claim) => order({ claim, hostname: claim }));
      const bought = Promise.all(claims.map((wish) => buyOnce(cloud.driver, wish, (ms) => cloud.clock.sleep(ms))));
      await cloud.clock.run(24 * 3_600_000, () => false);
      await bought;
      assert.equal(cloud.sim.boughtEver().length, claims.length);
    }),
    { numRuns: 25 },
  );
});

test("B50 a machine's price is that of its plan, whatever the metro; unknown plans have none", async () => {
  const { driver } = rig();
  assert.deepEqual(await driver.priceOf!({ plan: "c3.small.x86", metro: "sg" }), { hourly: 0.75, currency: "USD" });
  assert.deepEqual(await driver.priceOf!({ plan: "c3.medium.x86", metro: undefined }), {
    hourly: 1.5,
    currency: "USD",
  });
  assert.equal(await driver.priceOf!({ plan: "none", metro: "sg" }), undefined);
});
