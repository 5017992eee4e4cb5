import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpAnswer } from "@slipway/base";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { order, type Rig, rig } from "./rig.ts";

const PROJECT = `/projects/${DEFAULT_PROJECT.id}`;
const BODY = { plan: "c3.small.x86", metro: "da", operating_system: "ubuntu_20_04", hostname: "a" };

type Method = "GET" | "POST" | "PATCH" | "DELETE";

async function ask(cloud: Rig, method: Method, path: string, body?: object): Promise<HttpAnswer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await cloud.http({
    method,
    url: `https://metal.test${path}`,
    headers: { "x-auth-token": DEFAULT_TOKEN },
    ...sent,
  });
}

/** The answer's body, of a call that must succeed. */
async function answered<T>(cloud: Rig, method: Method, path: string, body?: object): Promise<T> {
  const answer = await ask(cloud, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body}`);
  return (answer.body === "" ? {} : JSON.parse(answer.body)) as T;
}

test("a link that begins with the API's base works, appended to it or not, and slashes count once", async () => {
  const cloud = rig();
  await answered(cloud, "POST", `/metal/v1${PROJECT}/devices`, BODY);
  for (const base of ["", "/metal/v1", "/metal/v1/", "/metal/v1/metal/v1", "/metal/v1//metal/v1"]) {
    const { devices } = await answered<{ devices: unknown[] }>(cloud, "GET", `${base}${PROJECT}//devices`);
    assert.equal(devices.length, 1, base);
  }
});

test("the last page has a next page that is null, and pages before it a link to the next", async () => {
  const cloud = rig();
  for (let i = 0; i < 12; i++) await cloud.driver.create(order({ claim: `c${i}`, hostname: `h${i}` }));
  const seen: number[] = [];
  let path: string | undefined = `/metal/v1${PROJECT}/devices`;
  while (path !== undefined) {
    const page: { devices: unknown[]; meta: { next: { href: string } | null } } = await answered(cloud, "GET", path);
    seen.push(page.devices.length);
    assert.ok("next" in page.meta);
    path = page.meta.next?.href;
  }
  assert.deepEqual(seen, [10, 2]);
});

test("a facility is its metro: old orders by facility are served, and each device has one", async () => {
  const cloud = rig({ capacity: { "sv/c3.small.x86": 0 } });
  const at = { ...BODY, metro: undefined };
  type Device = { metro: { code: string }; facility: { code: string } };
  const places = [];
  for (const facility of [["da11"], "ny5", ["sv15", "ewr1"], "any"]) {
    const device = await answered<Device>(cloud, "POST", `${PROJECT}/devices`, { ...at, facility });
    places.push(`${device.metro.code} ${device.facility.code}`);
  }
  const { metro, facility } = await answered<Device>(cloud, "POST", `${PROJECT}/devices`, BODY);
  assert.deepEqual([...places, `${metro.code} ${facility.code}`], ["da da11", "ny ny5", "ny ewr1", "am am1", "da da1"]);
});

test("create fields have their effect: addresses, size of the public block, keys, custom data as text, end", async () => {
  const cloud = rig();
  const key = await answered<{ id: string }>(cloud, "POST", `${PROJECT}/ssh-keys`, { label: "one", key: "ssh-rsa A" });
  await answered(cloud, "POST", `${PROJECT}/ssh-keys`, { label: "other", key: "ssh-rsa B" });
  const ends = cloud.clock.now() + 3_600_000;
  const device = await answered<{
    id: string;
    ip_addresses: { public: boolean; cidr: number; address_family: number }[];
    ssh_keys: { href: string }[];
    customdata: object;
    termination_time: string;
  }>(cloud, "POST", `${PROJECT}/devices`, {
    ...BODY,
    ip_addresses: [
      { address_family: 4, public: true },
      { address_family: 4, public: false },
    ],
    public_ipv4_subnet_size: 29,
    project_ssh_keys: [key.id],
    customdata: '{"rack":1}',
    termination_time: new Date(ends).toISOString(),
  });
  assert.deepEqual(
    device.ip_addresses.map((one) => [one.address_family, one.public, one.cidr]),
    [
      [4, true, 29],
      [4, false, 31],
    ],
  );
  assert.deepEqual(device.ssh_keys, [{ href: `/metal/v1/ssh-keys/${key.id}` }]);
  assert.deepEqual(device.customdata, { rack: 1 });
  assert.equal(Date.parse(device.termination_time), ends);
  await cloud.clock.run(3_700_000);
  assert.equal((await ask(cloud, "GET", `/devices/${device.id}`)).status, 404);
});

test("a bond that one of its ports has left is bonded still", async () => {
  const cloud = rig();
  const { id } = await answered<{ id: string }>(cloud, "POST", `${PROJECT}/devices`, BODY);
  await cloud.until(id, "running");
  const [, , eth1] = cloud.sim.device(id)!.ports;
  await answered(cloud, "POST", `/ports/${eth1!.id}/disbond`, {});
  type Port = { name: string; data: { bonded: boolean } };
  const { network_ports: ports } = await answered<{ network_ports: Port[] }>(cloud, "GET", `/devices/${id}`);
  assert.deepEqual(
    ports.map(({ name, data }) => `${name} ${data.bonded}`),
    ["bond0 true", "eth0 true", "eth1 false"],
  );
});

test("devices and keys are changed by PATCH too, as older clients do", async () => {
  const cloud = rig();
  const { id } = await answered<{ id: string }>(cloud, "POST", `${PROJECT}/devices`, BODY);
  const device = await answered<{ hostname: string }>(cloud, "PATCH", `/devices/${id}`, {
    hostname: "b",
    userdata: "#!x",
  });
  const { userdata } = await answered<{ userdata: string }>(cloud, "GET", `/devices/${id}/userdata`);
  assert.deepEqual([device.hostname, userdata], ["b", "#!x"]);
});

test("B33 an elastic IP: reserved, assigned to one device of its metro alone, not released while assigned, gone with its device", async () => {
  const cloud = rig();
  const bought = async (metro: string) => {
    const { id } = await answered<{ id: string }>(cloud, "POST", `${PROJECT}/devices`, { ...BODY, metro });
    return id;
  };
  const [a, b, far] = [await bought("da"), await bought("da"), await bought("ny")];
  const wish = {
    type: "public_ipv4",
    quantity: 1,
    facility: "",
    metro: "da",
    tags: ["t"],
    fail_on_approval_required: true,
  };
  const block = await answered<{ id: string; address: string }>(cloud, "POST", `${PROJECT}/ips`, wish);
  const assign = (device: string) => ask(cloud, "POST", `/devices/${device}/ips`, { address: block.address });

  assert.match((await assign(far)).body, /reserved in metro da, not in ny/);
  const given = JSON.parse((await assign(a)).body) as { id: string };
  assert.match((await assign(b)).body, /already been assigned/);
  assert.match((await ask(cloud, "DELETE", `/ips/${block.id}`)).body, /has assignments/);
  await answered(cloud, "DELETE", `/ips/${given.id}`);
  assert.equal((await assign(b)).status, 201);
  await answered(cloud, "DELETE", `/devices/${b}`);
  await cloud.clock.run(120_000);
  await answered(cloud, "DELETE", `/ips/${block.id}`);
  assert.deepEqual(await answered(cloud, "GET", `${PROJECT}/ips`), { ip_addresses: [] });
});

test("a device is shown with the first part of its id, too", async () => {
  const cloud = rig();
  const device = await answered<{ id: string; short_id: string }>(cloud, "POST", `${PROJECT}/devices`, BODY);
  assert.equal(device.short_id, device.id.split("-")[0]);
});

test("a public block has the size that is asked for, from /24 to /32; what can be done goes by the device's state", async () => {
  const cloud = rig();
  interface Shown {
    id: string;
    ip_addresses: { public: boolean; address_family: number; cidr: number }[];
    actions: { type: string }[];
  }
  const bought = (size: number) =>
    answered<Shown>(cloud, "POST", `${PROJECT}/devices`, { ...BODY, public_ipv4_subnet_size: size });
  const cidr = async (size: number) => {
    const { id } = await bought(size);
    await cloud.clock.run(10 * 60_000);
    const { ip_addresses } = await answered<Shown>(cloud, "GET", `/devices/${id}`);
    return ip_addresses.find((one) => one.public && one.address_family === 4)?.cidr;
  };
  const usual = await cidr(99);
  assert.deepEqual([await cidr(24), await cidr(32), await cidr(23), await cidr(33)], [24, 32, usual, usual]);
  const device = await bought(31);
  assert.deepEqual(device.actions, [], "a device that is queued");
  await cloud.clock.run(10 * 60_000);
  const actions = async () =>
    (await answered<Shown>(cloud, "GET", `/devices/${device.id}`)).actions.map(({ type }) => type);
  assert.deepEqual(await actions(), ["power_off", "reboot", "rescue", "reinstall"]);
  await ask(cloud, "POST", `/devices/${device.id}/actions`, { type: "power_off" });
  await cloud.clock.run(10 * 60_000);
  assert.deepEqual(await actions(), ["power_on"]);
});

test("BGP: none is an empty object, enabled once, a session a family, neighbors with the private address", async () => {
  const cloud = rig();
  const { id } = await answered<{ id: string }>(cloud, "POST", `${PROJECT}/devices`, BODY);
  const session = () => ask(cloud, "POST", `/devices/${id}/bgp/sessions`, { address_family: "ipv4" });
  assert.deepEqual(await answered(cloud, "GET", `${PROJECT}/bgp-config`), {});
  assert.match((await session()).body, /not enabled/);
  const config = { asn: 65000, deployment_type: "local", md5: null };
  assert.equal((await ask(cloud, "POST", `${PROJECT}/bgp-configs`, config)).status, 204);
  assert.equal((await ask(cloud, "POST", `${PROJECT}/bgp-configs`, config)).status, 422);
  assert.equal((await session()).status, 201);
  assert.match((await session()).body, /already has session/);
  const { bgp_neighbors: neighbors } = await answered<{
    bgp_neighbors: { customer_as: number; customer_ip: string }[];
  }>(cloud, "GET", `/devices/${id}/bgp/neighbors`);
  assert.deepEqual(
    neighbors.map((one) => [one.customer_as, one.customer_ip]),
    [[65000, cloud.sim.device(id)!.addresses.find((one) => !one.public)!.address]],
  );
});
