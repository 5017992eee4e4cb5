import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpAnswer } from "@slipway/base";
import { DEFAULT_PROJECT, DEFAULT_TOKEN, INSTANT_TIMINGS } from "./options.ts";
import { order, type Rig, rig } from "./rig.ts";

const DEVICES = `/projects/${DEFAULT_PROJECT.id}/devices`;
const BODY = {
  hostname: "pool-a",
  plan: "c3.small.x86",
  metro: "sg",
  operating_system: "custom_ipxe",
  ipxe_script_url: "https://boot.test/s",
};

type Method = "GET" | "POST" | "PUT" | "DELETE";

async function ask(cloud: Rig, method: Method, path: string, body?: object): Promise<HttpAnswer> {
  const headers = { "x-auth-token": DEFAULT_TOKEN };
  const url = `https://metal.test/metal/v1${path}`;
  return cloud.sim.handle({
    method,
    url,
    headers,
    remote: "192.0.2.1",
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

async function answered(cloud: Rig, method: Method, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await ask(cloud, method, path, body);
  assert.ok(answer.status < 300, answer.body);
  return JSON.parse(answer.body);
}

async function state(cloud: Rig, id: string): Promise<unknown> {
  const answer = await ask(cloud, "GET", `/devices/${id}`);
  return answer.status === 200 ? JSON.parse(answer.body).state : answer.status;
}

async function buy(cloud: Rig, changes: object = {}): Promise<string> {
  return String((await answered(cloud, "POST", DEVICES, { ...BODY, ...changes })).id);
}

/** The states that are passed, looked at every second. */
async function statesUntil(cloud: Rig, id: string, last: unknown): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (let second = 0; second < 3_600; second++) {
    const now = await state(cloud, id);
    if (seen.at(-1) !== now) seen.push(now);
    if (now === last) return seen;
    await cloud.clock.run(1_000);
  }
  return assert.fail(`never ${String(last)}: ${seen.join()}`);
}

test("a device is queued, provisioned, and active as soon as its script was served, not when it is installed", async () => {
  const cloud = rig();
  cloud.firmware.last = "script";
  const id = await buy(cloud);
  assert.deepEqual(await statesUntil(cloud, id, "active"), ["queued", "provisioning", "active"]);
  assert.deepEqual(cloud.firmware.boots, [
    { hostname: "pool-a", from: "network", boot: { scriptUrl: BODY.ipxe_script_url, userData: "" } },
  ]);
});

test("a machine that never fetches its script becomes failed, not active", async () => {
  const cloud = rig();
  cloud.firmware.last = "dhcp";
  const id = await buy(cloud);
  assert.deepEqual(await statesUntil(cloud, id, "failed"), ["queued", "provisioning", "failed"]);
});

test("a deleted device is deprovisioned, then gone, and its place can be sold again", async () => {
  const cloud = rig({ capacity: { "sg/c3.small.x86": 1 } });
  const id = await buy(cloud);
  assert.equal((await ask(cloud, "POST", DEVICES, BODY)).status, 422);
  assert.equal((await ask(cloud, "DELETE", `/devices/${id}?force_delete=true`)).status, 204);
  assert.deepEqual(await statesUntil(cloud, id, 404), ["deprovisioning", 404]);
  await buy(cloud);
  const [first, second] = cloud.sim.boughtEver();
  assert.ok(first?.releasedAt !== undefined && second?.releasedAt === undefined);
});

test("H11 right after a reinstall action the device still reads active, then it is installed anew with what was put before", async () => {
  const cloud = rig();
  const id = await buy(cloud);
  await statesUntil(cloud, id, "active");
  await answered(cloud, "PUT", `/devices/${id}`, {
    userdata: "#cloud-config\n2",
    ipxe_script_url: "https://boot.test/2",
  });
  const action = { type: "reinstall", preserve_data: true, deprovision_fast: true };
  assert.equal((await ask(cloud, "POST", `/devices/${id}/actions`, action)).status, 202);
  assert.equal(await state(cloud, id), "active");
  assert.equal((await ask(cloud, "POST", `/devices/${id}/actions`, action)).status, 422);

  await cloud.clock.run(3_000);
  assert.deepEqual(await statesUntil(cloud, id, "active"), ["reinstalling", "active"]);
  assert.deepEqual(cloud.firmware.wiped, ["pool-a"]);
  assert.equal(cloud.firmware.boots.at(-1)?.boot?.scriptUrl, "https://boot.test/2");
});

test("power goes off and on; a machine boots from its disk unless it always boots from the network", async () => {
  for (const [alwaysPxe, from] of [
    [false, "disk"],
    [true, "network"],
  ] as const) {
    const cloud = rig();
    const id = await buy(cloud, { always_pxe: alwaysPxe });
    await statesUntil(cloud, id, "active");
    await ask(cloud, "POST", `/devices/${id}/actions`, { type: "power_off" });
    assert.deepEqual(await statesUntil(cloud, id, "inactive"), ["powering_off", "inactive"]);
    await ask(cloud, "POST", `/devices/${id}/actions`, { type: "power_on" });
    assert.deepEqual(await statesUntil(cloud, id, "active"), ["powering_on", "active"]);
    assert.equal(cloud.firmware.boots.at(-1)?.from, from);
  }
});

test("a killed machine stays active at the API, and makes no further progress", async () => {
  const cloud = rig();
  const id = await buy(cloud);
  await statesUntil(cloud, id, "active");
  cloud.sim.kill(id);
  const stage = cloud.sim.device(id)?.stage;
  await cloud.clock.run(600_000);
  assert.deepEqual([await state(cloud, id), cloud.sim.device(id)?.stage], ["active", stage]);
  await ask(cloud, "POST", `/devices/${id}/actions`, { type: "reboot" });
  await cloud.clock.run(600_000);
  assert.deepEqual([await state(cloud, id), cloud.sim.device(id)?.stage], ["active", stage]);
});

test("H23 a revoked spot machine has its termination time for the notice, then it is taken back", async () => {
  const cloud = rig();
  const id = await buy(cloud, { spot_instance: true, spot_price_max: "0.5" });
  await statesUntil(cloud, id, "active");
  cloud.sim.revokeSpot(id);
  const { termination_time } = await answered(cloud, "GET", `/devices/${id}`);
  assert.equal(Date.parse(String(termination_time)) - cloud.clock.now(), 120_000);
  await cloud.clock.run(119_000);
  assert.equal(await state(cloud, id), "active");
  await cloud.clock.run(2_000);
  assert.equal(await state(cloud, id), "deprovisioning");
});

test("what can't be sold is refused with the API's kind of reason", async () => {
  const cloud = rig({
    capacity: { "sg/c3.small.x86": 0 },
    spotPrices: { "da/c3.small.x86": 0.7 },
    reservations: [{ plan: "c3.small.x86", metro: "ny" }],
  });
  const table: [object, RegExp][] = [
    [{}, /There aren't available servers in that metro/],
    [{ metro: "any", plan: "not a plan" }, /plan/],
    [{ metro: "atlantis" }, /metro/],
    [{ metro: undefined }, /metro/],
    [{ metro: undefined, facility: ["atlantis"] }, /facility/],
    [{ metro: "da", operating_system: "ubuntu_99" }, /operating_system ubuntu_99/],
    [{ metro: "da", project_ssh_keys: ["7e570000-0000-4000-8000-000000000000"] }, /not a key of the project/],
    [{ metro: "da", termination_time: "2001-01-01T00:00:00Z" }, /termination_time/],
    [{ metro: "da", spot_instance: true, spot_price_max: 0.5 }, /spot price/],
    [{ hardware_reservation_id: "next-available", plan: "m3.small.x86" }, /No available hardware reservations/],
    [{ metro: "da", ipxe_script_url: "" }, /ipxe_script_url/],
    [{ metro: "da", operating_system: "" }, /operating_system/],
  ];
  for (const [changes, reason] of table) {
    const answer = await ask(cloud, "POST", DEVICES, { ...BODY, ...changes });
    assert.equal(answer.status, 422, answer.body);
    assert.match(answer.body, reason);
  }
  assert.deepEqual(cloud.sim.devices(), []);
});

test("a reserved machine is sold once, where it stands, and is free again afterwards", async () => {
  const cloud = rig({ reservations: [{ plan: "c3.small.x86", metro: "ny" }] });
  const next = { hardware_reservation_id: "next-available" };
  const id = await buy(cloud, next);
  assert.equal(cloud.sim.device(id)?.metro, "ny");
  assert.equal((await ask(cloud, "POST", DEVICES, { ...BODY, ...next })).status, 422);
  await ask(cloud, "DELETE", `/devices/${id}`);
  await cloud.clock.run(120_000);
  await buy(cloud, next);
});

test("a locked device is not deleted", async () => {
  const cloud = rig();
  const id = await buy(cloud, { locked: true });
  assert.equal((await ask(cloud, "DELETE", `/devices/${id}`)).status, 422);
  await answered(cloud, "PUT", `/devices/${id}`, { locked: false });
  assert.equal((await ask(cloud, "DELETE", `/devices/${id}`)).status, 204);
});

test("the calls of the original's client are taken: null tags, prices as text, flags in the body, no body", async () => {
  const cloud = rig();
  const id = await buy(cloud, {
    tags: null,
    spot_instance: true,
    spot_price_max: "0.5",
    customdata: "text",
    userdata: "",
  });
  await statesUntil(cloud, id, "active");
  const bond0 = cloud.sim.device(id)!.ports[0]!;
  await answered(cloud, "POST", `/ports/${bond0.id}/convert/layer-2`);
  await answered(cloud, "POST", `/ports/${cloud.sim.device(id)!.ports[1]!.id}/disbond`, { bulk_disable: true });
  assert.deepEqual(
    cloud.sim
      .device(id)!
      .ports.slice(1)
      .map((port) => port.bonded),
    [false, false],
  );
  assert.equal((await ask(cloud, "DELETE", `/devices/${id}`, { force_delete: true })).status, 204);
});

test("the original's port calls, repeated from the start, are refused as the real API refused them", async () => {
  const cloud = rig();
  const id = await buy(cloud);
  const bond0 = cloud.sim.device(id)!.ports[0]!;
  const refused = async (path: string): Promise<string> => {
    const answer = await ask(cloud, "POST", `/ports/${bond0.id}${path}`);
    assert.equal(answer.status, 422);
    return JSON.parse(answer.body).errors[0];
  };
  assert.equal(await refused("/convert/layer-3"), "bond0 is already layer3");
  await answered(cloud, "POST", `/ports/${bond0.id}/convert/layer-2`);
  assert.equal(await refused("/convert/layer-2"), "bond0 is already configured for Layer 2");
});

test("VLANs: numbers are unique per metro, layer 3 wants none, a native one needs company", async () => {
  const cloud = rig();
  const id = await buy(cloud);
  const vlans = `/projects/${DEFAULT_PROJECT.id}/virtual-networks`;
  const first = await answered(cloud, "POST", vlans, { metro: "sg" });
  assert.equal(first.vxlan, 1000);
  assert.equal((await ask(cloud, "POST", vlans, { metro: "sg", vxlan: 1000 })).status, 422);
  await answered(cloud, "POST", vlans, { metro: "da", vxlan: 1000 });
  await answered(cloud, "POST", vlans, { metro: "sg", vxlan: 7 });
  assert.equal((await ask(cloud, "POST", vlans, { metro: "sg", vxlan: 4000 })).status, 422);

  const [bond0, eth0, eth1] = cloud.sim.device(id)!.ports;
  const refused = async (method: Method, path: string, body?: object): Promise<void> => {
    assert.equal((await ask(cloud, method, path, body)).status, 422, path);
  };
  await refused("POST", `/ports/${eth0!.id}/assign`, { vnid: "7" });
  await refused("POST", `/ports/${bond0!.id}/assign`, { vnid: "8" });
  await answered(cloud, "POST", `/ports/${bond0!.id}/convert/layer-2`, {});
  await answered(cloud, "POST", `/ports/${bond0!.id}/assign`, { vnid: "7" });
  await refused("POST", `/ports/${bond0!.id}/convert/layer-3`, {});
  await refused("POST", `/ports/${bond0!.id}/native-vlan?vnid=7`);
  await answered(cloud, "POST", `/ports/${bond0!.id}/unassign`, { vnid: String(first.id) }).then(
    () => assert.fail("was not assigned"),
    () => {},
  );
  await answered(cloud, "POST", `/ports/${eth1!.id}/disbond`);
  await answered(cloud, "POST", `/ports/${eth1!.id}/assign`, { vnid: "7" });
  await refused("POST", `/ports/${eth1!.id}/native-vlan?vnid=7`);
  await answered(cloud, "POST", `/ports/${eth1!.id}/assign`, { vnid: "1000" });
  const native = await answered(cloud, "POST", `/ports/${eth1!.id}/native-vlan?vnid=7`);
  assert.equal((native.native_virtual_network as { vxlan: number }).vxlan, 7);
  await refused("POST", `/ports/${eth1!.id}/unassign`, { vnid: "7" });
  await refused("POST", `/ports/${eth1!.id}/bond`);
  await answered(cloud, "DELETE", `/ports/${eth1!.id}/native-vlan`);
});

test("lists are paged, filtered, and may miss a fresh device for a while, never for more than 30 s", async () => {
  const cloud = rig({ faults: { staleListsMs: 30_000 } });
  for (let i = 0; i < 12; i++) await buy(cloud, { hostname: `pool-${i}`, tags: i < 3 ? ["few"] : [] });
  await cloud.clock.run(31_000);
  const hosts = async (query: string): Promise<string[]> => {
    const { devices } = await answered(cloud, "GET", `${DEVICES}?${query}`);
    return (devices as { hostname: string }[]).map(({ hostname }) => hostname);
  };
  assert.equal((await hosts("")).length, 10);
  assert.deepEqual(await hosts("page=2"), ["pool-10", "pool-11"]);
  assert.deepEqual(await hosts("tag=few"), ["pool-0", "pool-1", "pool-2"]);
  assert.deepEqual(await hosts("hostname=pool-1&per_page=2"), ["pool-1", "pool-10"]);
  assert.deepEqual(await hosts("metro=da"), []);
  assert.equal((await ask(cloud, "GET", `${DEVICES}?per_page=1001`)).status, 422);

  let missed = 0;
  for (let i = 0; i < 8; i++) {
    await buy(cloud, { tags: ["fresh"] });
    if ((await hosts("tag=fresh")).length <= i - missed) missed++;
  }
  assert.ok(missed > 0);
  await cloud.clock.run(30_000);
  assert.equal((await hosts("tag=fresh")).length, 8);
});

test("who has no key, or yesterday's, is answered 401", async () => {
  const cloud = rig();
  cloud.sim.rotateKey("new-key");
  assert.equal((await ask(cloud, "GET", "/user")).status, 401);
  assert.equal((await ask(cloud, "GET", "/no/such/thing")).status, 401);
});

test("a used-up rate limit is answered 429 with the time to wait, and is whole again after it", async () => {
  const cloud = rig({ rateLimit: { requests: 2, windowMs: 10_000 } });
  assert.equal((await ask(cloud, "GET", "/user")).headers["x-ratelimit-remaining"], "1");
  await ask(cloud, "GET", "/user");
  const refused = await ask(cloud, "GET", "/user");
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "10"]);
  await cloud.clock.run(10_000);
  assert.equal((await ask(cloud, "GET", "/user")).status, 200);
  assert.deepEqual(cloud.sim.counters(), { findCurrentUser: 4, throttled: 1 });
});

test("the machine reads its own metadata by its address, and its words become events", async () => {
  const cloud = rig();
  const id = await buy(cloud, { userdata: "#cloud-config\nmine" });
  const remote = cloud.sim.device(id)!.hardware.publicIp;
  const read = (method: "GET" | "POST", path: string, from: string, body?: string): Promise<HttpAnswer> =>
    cloud.sim.metadata({
      method,
      url: `https://metadata.platformequinix.com${path}`,
      remote: from,
      ...(body ? { body } : {}),
    });
  assert.equal((await read("GET", "/userdata", remote)).body, "#cloud-config\nmine");
  assert.equal((await read("GET", "/userdata", "203.0.113.9")).status, 404);
  const metadata = JSON.parse((await read("GET", "/metadata", remote)).body);
  assert.deepEqual(
    metadata.network.interfaces.map((one: { name: string }) => one.name),
    ["eth0", "eth1"],
  );
  assert.equal((await read("GET", "/2009-04-04/meta-data/instance-id", remote)).body, id);

  const event = { state: "succeeded", code: 1001, message: "installed" };
  assert.equal((await read("POST", "/events", remote, JSON.stringify(event))).status, 200);
  assert.equal((await read("POST", "/events", remote, '{"state":"bored"}')).status, 422);
  const { events } = await answered(cloud, "GET", `/devices/${id}/events`);
  assert.equal((events as { body: string }[])[0]?.body, "installed");
});

test("no two machines that exist share an address or a MAC", async () => {
  const cloud = rig();
  for (let i = 0; i < 300; i++) await buy(cloud);
  const devices = cloud.sim.devices();
  const addresses = devices.flatMap((device) => device.addresses.map(({ address }) => address));
  const macs = devices.flatMap(({ hardware }) => hardware.nics.map(({ mac }) => mac));
  assert.deepEqual([new Set(addresses).size, new Set(macs).size], [900, 600]);
});

test("a body that is not a JSON object is answered 400", async () => {
  const cloud = rig();
  const headers = { "x-auth-token": DEFAULT_TOKEN };
  for (const body of ["{", "[]", "7"]) {
    const answer = await cloud.sim.handle({ method: "POST", url: DEVICES, headers, body, remote: "192.0.2.1" });
    assert.equal(answer.status, 400, body);
  }
});

test("a device that is given back before its end leaves no timer behind", async () => {
  const cloud = rig();
  const id = await buy(cloud, { spot_instance: true });
  await cloud.clock.run(600_000);
  cloud.sim.revokeSpot(id);
  await ask(cloud, "DELETE", `/devices/${id}`);
  await cloud.clock.run(60_000);
  assert.deepEqual([cloud.sim.devices().length, cloud.clock.pending], [0, 0]);
});

test("a machine that is given back already is not taken back once more when its notice ends", async () => {
  const cloud = rig({ capacity: { "sg/c3.small.x86": 5 } });
  const id = await buy(cloud);
  await statesUntil(cloud, id, "active");
  await ask(cloud, "DELETE", `/devices/${id}`);
  cloud.sim.revokeSpot(id);
  await cloud.clock.run(60_000);
  const before = cloud.sim.snapshot();
  await cloud.clock.run(600_000);
  assert.deepEqual(cloud.sim.snapshot(), before);
  assert.equal(cloud.clock.pending, 0);
});

test("the body of a device is what its plan, ports and addresses are now", async () => {
  const cloud = rig();
  const id = await buy(cloud, { plan: "n3.xlarge.x86" });
  const { hardware, addresses, ports } = cloud.sim.device(id)!;
  const shown = () => ({ ...hardware, reachable: hardware.reachable() });
  assert.deepEqual(shown(), {
    ...{ id, hostname: cloud.sim.device(id)!.hostname, plan: "n3.xlarge.x86", serial: "SIM0000000", firmware: "uefi" },
    ...{ diskGiB: 3800, publicIp: "198.18.0.1", privateIp: "10.64.0.1", reachable: true },
    nics: [0, 1, 2, 3].map((at) => ({ name: `eth${at}`, mac: `02:51:00:00:00:0${at}` })),
  });
  assert.equal(addresses.length, 3);
  const bond = ports.find(({ name }) => name === "bond0")!;
  await statesUntil(cloud, id, "active");
  await ask(cloud, "POST", `/ports/${bond.id}/convert/layer-2`);
  const { publicIp, privateIp, reachable } = shown();
  assert.deepEqual([publicIp, privateIp, reachable], ["", "", false]);
});

test("closing the cloud leaves no timer behind", async () => {
  const cloud = rig();
  for (let i = 0; i < 5; i++) await buy(cloud, { spot_instance: true });
  for (const { id } of cloud.sim.devices()) cloud.sim.revokeSpot(id);
  await cloud.clock.run(30_000);
  cloud.sim.close();
  assert.equal(cloud.clock.pending, 0);
});

test("five thousand devices without latency are sold, booted, listed in twenty pages and given back", async () => {
  const cloud = rig({ timings: INSTANT_TIMINGS });
  const ids: string[] = [];
  for (let i = 0; i < 5_000; i++) {
    ids.push((await cloud.driver.create(order({ claim: `claim-${i}`, hostname: `pool-${i}` }))).id);
  }
  await cloud.clock.run(60_000);
  const listed = await cloud.driver.list();
  assert.ok(listed.length === 5_000 && listed.every(({ phase }) => phase === "running"));
  assert.equal(cloud.sim.counters().findProjectDevices, 20);
  for (const id of ids) await cloud.driver.release(id, { force: true });
  await cloud.clock.run(1_000);
  assert.deepEqual(cloud.sim.devices(), []);
});

test("SSH keys of the user are listed apart from those of a project", async () => {
  const cloud = rig();
  const project = `/projects/${DEFAULT_PROJECT.id}/ssh-keys`;
  const labels = async (path: string): Promise<string[]> => {
    const { ssh_keys: keys } = await answered(cloud, "GET", path);
    return (keys as { label: string }[]).map(({ label }) => label);
  };
  await answered(cloud, "POST", project, { label: "project", key: "ssh-ed25519 AAAA" });
  await answered(cloud, "POST", "/ssh-keys", { label: "user", key: "ssh-ed25519 BBBB" });
  assert.deepEqual([await labels("/ssh-keys"), await labels(project)], [["user"], ["project"]]);
});
