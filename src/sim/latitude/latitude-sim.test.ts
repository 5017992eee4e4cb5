import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "@slipway/base";
import { DEFAULT_TOKEN } from "./options.ts";
import { order, rig } from "./rig.ts";

const HOUR = 3_600_000;

async function ask(
  sim: ReturnType<typeof rig>["sim"],
  method: HttpRequest["method"],
  path: string,
  attributes?: object,
) {
  const body = attributes === undefined ? {} : { body: JSON.stringify({ data: { type: "x", attributes } }) };
  const headers = { authorization: DEFAULT_TOKEN };
  const answer = await sim.handle({
    method,
    url: `https://latitude.test${path}`,
    headers,
    remote: "192.0.2.1",
    ...body,
  });
  return { status: answer.status, body: answer.body === "" ? undefined : JSON.parse(answer.body) };
}

test("a released server is listed while its disks are erased, then it is for sale again", async () => {
  const { sim, driver, clock } = rig({ stock: { "DAL/c3-small-x86": 1 } });
  const { id } = await driver.create(order());

  await driver.release(id, { force: false });
  assert.equal((await ask(sim, "GET", `/servers/${id}`)).body.data.attributes.status, "disk_erasing");
  await assert.rejects(driver.create(order({ claim: "b", hostname: "b" })), /out of stock/);
  await clock.run(HOUR);

  assert.equal((await ask(sim, "GET", `/servers/${id}`)).status, 404);
  await driver.create(order({ claim: "b", hostname: "b" }));
  assert.deepEqual(
    sim.boughtEver().map((one) => one.hostname),
    ["pool-abcdefgh", "b"],
  );
});

test("a killed machine is off while the API says on", async () => {
  const { sim, driver, until, firmware } = rig();
  const { id } = await driver.create(order());
  await until(id, "running");

  sim.kill(id);

  assert.equal(firmware.off, 1);
  assert.equal((await driver.read(id))?.phase, "running");
});

test("a server that is released, or fails, has no power from then on", async () => {
  const released = rig();
  const { id } = await released.driver.create(order());
  await released.until(id, "running");
  await released.driver.release(id, { force: false });
  assert.equal(released.firmware.off, 1);
  const failed = rig();
  const other = await failed.driver.create(order());
  await failed.until(other.id, "running");
  failed.sim.fail(other.id);
  assert.equal(failed.firmware.off, 1);
});

test("closing leaves no timer and no machine under power", async () => {
  const { sim, driver, until, clock, firmware } = rig();
  const { id } = await driver.create(order());
  await until(id, "running");
  await driver.create(order({ claim: "b", hostname: "b" }));

  sim.close();

  assert.equal(clock.pending, 0);
  assert.equal(firmware.off, 1);
});

test("what is not served, not JSON, or not authorized is refused in the API's own form", async () => {
  const { sim } = rig();
  const raw = { method: "POST" as const, url: "https://latitude.test/servers", remote: "192.0.2.1" };

  assert.equal((await ask(sim, "GET", "/kubernetes_clusters")).status, 404);
  assert.equal((await sim.handle({ ...raw, headers: { authorization: DEFAULT_TOKEN }, body: "{" })).status, 400);
  assert.equal((await sim.handle({ ...raw, headers: { authorization: "no" }, body: "{}" })).status, 401);
  assert.equal((await ask(sim, "GET", "/servers?page[size]=0")).status, 400);
  const untyped = await sim.handle({ ...raw, headers: { authorization: DEFAULT_TOKEN }, body: '{"data":{}}' });
  assert.deepEqual(JSON.parse(untyped.body).errors[0].code, "TYPE_REQUIRED");
});

test("an order is checked: project, site, user data, script", async () => {
  const { sim } = rig();
  const good = {
    project: sim.project.slug,
    plan: "c3-small-x86",
    site: "DAL",
    operating_system: "ipxe",
    hostname: "a",
    ipxe: "http://b/s",
  };
  const status = async (changes: object) => (await ask(sim, "POST", "/servers", { ...good, ...changes })).status;

  assert.equal(await status({ project: "other" }), 404);
  assert.equal(await status({ site: "dal" }), 422);
  assert.equal(await status({ user_data: "ud_none" }), 422);
  assert.equal(await status({ ipxe: undefined }), 422);
  assert.equal(await status({ hostname: "" }), 422);
  assert.equal(await status({}), 201);
  assert.equal(sim.boughtEver().length, 1);
});

test("plans tell where they are in stock", async () => {
  const { sim } = rig({ stock: { "DAL/c3-small-x86": 0 } });

  const { body } = await ask(sim, "GET", "/plans");

  const small = body.data.find((plan: { attributes: { slug: string } }) => plan.attributes.slug === "c3-small-x86");
  assert.equal(small.attributes.regions[0].locations.in_stock.includes("DAL"), false);
  assert.equal(small.attributes.regions[0].locations.available.includes("DAL"), true);
});
