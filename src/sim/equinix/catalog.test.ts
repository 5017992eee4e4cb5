import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_PROJECT } from "./options.ts";
import { order, rig } from "./rig.ts";

test("what is for sale reads unavailable, limited below ten, and normal; a check counts what is asked for", async () => {
  const { sim } = rig({ capacity: { "sg/c3.small.x86": 0, "da/c3.small.x86": 9, "ny/c3.small.x86": 10 } });
  const ask = async (method: "GET" | "POST", body?: object) => {
    const answer = await sim.handle({
      ...{ method, url: "https://metal.test/metal/v1/capacity/metros", headers: { "x-auth-token": sim.token } },
      ...{ remote: "192.0.2.1", ...(body && { body: JSON.stringify(body) }) },
    });
    assert.equal(answer.status, 200, answer.body);
    return JSON.parse(answer.body);
  };
  const { capacity } = await ask("GET");
  assert.deepEqual(
    ["sg", "da", "ny"].map((metro) => capacity[metro]["c3.small.x86"].level),
    ["unavailable", "limited", "normal"],
  );
  const servers = [9, 10].map((quantity) => ({ metro: "da", plan: "c3.small.x86", quantity }));
  const checked = (await ask("POST", { servers })).servers as { available: boolean }[];
  assert.deepEqual(
    checked.map(({ available }) => available),
    [true, false],
  );
});

test("devices are listed by the way they were bought", async () => {
  const { sim, driver } = rig({ reservations: [{ plan: "m3.small.x86", metro: "da" }] });
  await driver.create(order({ claim: "a", hostname: "on-demand" }));
  const buy = async (body: object): Promise<void> => {
    const answer = await sim.handle({
      ...{ method: "POST", url: `https://metal.test/metal/v1/projects/${DEFAULT_PROJECT.id}/devices` },
      ...{ headers: { "x-auth-token": sim.token }, remote: "192.0.2.1", body: JSON.stringify(body) },
    });
    assert.equal(answer.status, 201, answer.body);
  };
  const usual = { operating_system: "ubuntu_24_04" };
  await buy({ ...usual, hostname: "spot", plan: "c3.small.x86", metro: "sg", spot_instance: true });
  await buy({ ...usual, hostname: "reserved", plan: "m3.small.x86", hardware_reservation_id: "next-available" });
  const listed = async (query: string): Promise<string[]> => {
    const url = `https://metal.test/metal/v1/projects/${DEFAULT_PROJECT.id}/devices?${query}`;
    const headers = { "x-auth-token": sim.token };
    const { body } = await sim.handle({ method: "GET", url, headers, remote: "192.0.2.1" });
    return (JSON.parse(body).devices as { hostname: string }[]).map(({ hostname }) => hostname);
  };
  assert.deepEqual(await listed("type=ondemand"), ["on-demand"]);
  assert.deepEqual(await listed("type=spot"), ["spot"]);
  assert.deepEqual(await listed("type=reserved"), ["reserved"]);
  assert.deepEqual(await listed("reserved=true"), ["reserved"]);
  assert.deepEqual(await listed("reserved=false"), ["on-demand", "spot"]);
});
