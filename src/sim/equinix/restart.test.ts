import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { type RememberingFirmware, rememberingFirmware } from "../remembering-firmware.ts";
import { testRestarts } from "../restart-promises.ts";
import type { DeviceState } from "./device.ts";
import { createEquinixSim, type EquinixSim } from "./equinix-sim.ts";
import { DEFAULT_PROJECT, type EquinixSimOptions } from "./options.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DEVICES = `/projects/${DEFAULT_PROJECT.id}/devices`;
const NETWORKS = `/projects/${DEFAULT_PROJECT.id}/virtual-networks`;
/** Queued for 20 s, provisioned after 80 s, active (script) after 100 s, installed after 130 s, in service after 140 s. */
const TIMINGS = { provisioningMs: [MINUTE, MINUTE] } as const;

interface World {
  clock: VirtualClock;
  sim: EquinixSim;
  firmware: RememberingFirmware;
  call(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<HttpAnswer>;
}

function start(options: Partial<EquinixSimOptions> = {}, clock = new VirtualClock()): World {
  const firmware = rememberingFirmware(clock);
  // A process that goes on draws other ids than the one before it.
  const random = seededRandom(options.restore === undefined ? 7 : 8);
  const sim = createEquinixSim({ clock, random, firmware, timings: TIMINGS, ...options });
  const call: World["call"] = (method, path, body) =>
    sim.handle({
      method,
      url: `https://metal.test/metal/v1${path}`,
      headers: { "x-auth-token": sim.token },
      remote: "192.0.2.1",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { clock, sim, firmware, call };
}

/** The process is killed, and another finds what was written. */
function restarted(world: World, options: Partial<EquinixSimOptions> = {}): World {
  const restore: unknown = JSON.parse(JSON.stringify(world.sim.snapshot()));
  return start({ ...options, restore }, new VirtualClock(world.clock.now()));
}

async function ordered({ call }: World, changes: object = {}): Promise<string> {
  const order = {
    hostname: "node-1",
    plan: "c3.small.x86",
    metro: "sg",
    operating_system: "custom_ipxe",
    ipxe_script_url: "https://boot.test/script",
    userdata: "#cloud-config\n",
    tags: ["pool=a"],
    ...changes,
  };
  const answer = await call("POST", DEVICES, order);
  assert.equal(answer.status, 201);
  return JSON.parse(answer.body).id;
}

const act = async ({ call }: World, id: string, type: string): Promise<void> => {
  assert.equal((await call("POST", `/devices/${id}/actions`, { type })).status, 202);
};

interface Case {
  name: string;
  at: DeviceState;
  /** Brings a device that is 150 s old, or with `young` new, there. */
  young?: true;
  order?: object;
  bring?: (world: World, id: string) => void | Promise<void>;
  afterMs?: number;
  /** The state in the end; undefined: it is gone. */
  end: DeviceState | undefined;
  /** The first boot of the second process. */
  boots: "network" | "disk" | undefined;
}

const CASES: readonly Case[] = [
  { name: "queued", at: "queued", young: true, end: "active", boots: "network" },
  { name: "being provisioned", at: "provisioning", young: true, afterMs: 30_000, end: "active", boots: "network" },
  { name: "at its first boot", at: "provisioning", young: true, afterMs: 95_000, end: "active", boots: "network" },
  { name: "installing", at: "active", young: true, afterMs: 125_000, end: "active", boots: "network" },
  { name: "installed", at: "active", young: true, afterMs: 135_000, end: "active", boots: "disk" },
  { name: "in service", at: "active", end: "active", boots: "disk" },
  {
    name: "powering off",
    at: "powering_off",
    bring: (world, id) => act(world, id, "power_off"),
    end: "inactive",
    boots: undefined,
  },
  {
    name: "off",
    at: "inactive",
    bring: (world, id) => act(world, id, "power_off"),
    afterMs: 15_000,
    end: "inactive",
    boots: undefined,
  },
  {
    name: "rebooting",
    at: "powering_on",
    bring: (world, id) => act(world, id, "reboot"),
    end: "active",
    boots: "disk",
  },
  {
    name: "rebooting into the network",
    at: "powering_on",
    order: { always_pxe: true },
    bring: (world, id) => act(world, id, "reboot"),
    end: "active",
    boots: "network",
  },
  {
    name: "about to be reinstalled",
    at: "active",
    bring: (world, id) => act(world, id, "reinstall"),
    end: "active",
    boots: "network",
  },
  {
    name: "being reinstalled",
    at: "reinstalling",
    bring: (world, id) => act(world, id, "reinstall"),
    afterMs: 30_000,
    end: "active",
    boots: "network",
  },
  {
    name: "at the first boot of a reinstall",
    at: "reinstalling",
    bring: (world, id) => act(world, id, "reinstall"),
    afterMs: 105_000,
    end: "active",
    boots: "network",
  },
  { name: "failed", at: "failed", bring: ({ sim }, id) => sim.fail(id), end: "failed", boots: undefined },
  {
    name: "failed on its way",
    at: "failed",
    young: true,
    bring: ({ sim }, id) => sim.fail(id),
    end: "failed",
    boots: undefined,
  },
  { name: "dead", at: "active", bring: ({ sim }, id) => sim.kill(id), end: "active", boots: undefined },
  {
    name: "marked for termination",
    at: "active",
    order: { spot_instance: true },
    bring: ({ sim }, id) => sim.revokeSpot(id),
    end: undefined,
    boots: "disk",
  },
  {
    name: "being deprovisioned",
    at: "deprovisioning",
    bring: async ({ call }, id) => void (await call("DELETE", `/devices/${id}`)),
    end: undefined,
    boots: undefined,
  },
];

for (const { name, at, young, order, bring, afterMs = 0, end, boots } of CASES) {
  test(`a device that is ${name} is shown the same after a restart, and goes on`, async () => {
    const before = start();
    const id = await ordered(before, order);
    if (!young) await before.clock.run(150 * SECOND);
    await bring?.(before, id);
    await before.clock.run(afterMs);
    assert.equal(before.sim.device(id)?.state, at);

    const after = restarted(before);
    assert.deepEqual(await after.call("GET", DEVICES), await before.call("GET", DEVICES));
    assert.deepEqual(after.sim.snapshot(), before.sim.snapshot());

    await after.clock.run(10 * MINUTE);
    assert.equal(after.sim.device(id)?.state, end);
    assert.deepEqual(after.firmware.boots, boots === undefined ? [] : [{ hostname: "node-1", from: boots }]);
    if (end === "active" && boots !== undefined) assert.equal(after.sim.device(id)?.stage, "joined");
  });
}

test("what a device was named, tagged and wired to is found again", async () => {
  const before = start({ capacity: { "sg/c3.small.x86": 3 }, reservations: [{ plan: "m3.small.x86", metro: "da" }] });
  const id = await ordered(before);
  const reserved = await ordered(before, { plan: "m3.small.x86", hardware_reservation_id: "next-available" });
  const { body } = await before.call("POST", NETWORKS, { metro: "sg", vxlan: 1234 });
  const bond = before.sim.device(id)!.ports[0]!;
  assert.equal((await before.call("POST", `/ports/${bond.id}/assign`, { vnid: JSON.parse(body).id })).status, 200);
  before.sim.rotateKey("another-key");
  const gone = await ordered(before);
  await before.call("DELETE", `/devices/${gone}`);
  await before.clock.run(5 * MINUTE);

  const after = restarted(before, { capacity: { "sg/c3.small.x86": 100 }, token: "first-key" });
  assert.deepEqual(after.sim.snapshot(), before.sim.snapshot(), "the address that was given back, too");

  assert.equal(after.sim.token, "another-key");
  assert.deepEqual(after.sim.boughtEver(), before.sim.boughtEver());
  assert.deepEqual(after.sim.device(id)!.ports[0]!.vlans[0]?.vxlan, 1234);
  assert.equal(JSON.parse((await after.call("GET", `${DEVICES}?tag=pool=a`)).body).devices.length, 2);
  assert.equal((await after.sim.metadata(fromMachine(after, id))).status, 200);
  const orders = [{ hardware_reservation_id: "next-available", plan: "m3.small.x86" }, {}, {}, {}].map((changes) =>
    after.call("POST", DEVICES, { plan: "c3.small.x86", metro: "sg", operating_system: "ubuntu_24_04", ...changes }),
  );
  const statuses = (await Promise.all(orders)).map(({ status }) => status);
  assert.deepEqual(statuses, [422, 201, 201, 422], "the reservation is taken; two of three are for sale");
  assert.equal(new Set(after.sim.devices().flatMap((one) => one.addresses.map(({ address }) => address))).size, 12);
  await after.call("DELETE", `/devices/${reserved}`);
  await after.clock.run(5 * MINUTE);
  assert.equal((await after.call("POST", DEVICES, { ...RESERVED })).status, 201, "the reservation is free again");
});

test("elastic IPs, their assignments and BGP are found again", async () => {
  const before = start();
  const id = await ordered(before);
  await before.clock.run(5 * MINUTE);
  const project = `/projects/${DEFAULT_PROJECT.id}`;
  const made = async (path: string, body: object) => {
    const answer = await before.call("POST", path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.body}`);
    return JSON.parse(answer.body || "{}") as { id: string; address: string };
  };
  const block = await made(`${project}/ips`, { type: "public_ipv4", quantity: 1, metro: "sg", tags: ["t"] });
  await made(`/devices/${id}/ips`, { address: block.address });
  await made(`${project}/bgp-configs`, { asn: 65_000, deployment_type: "local" });
  await made(`/devices/${id}/bgp/sessions`, { address_family: "ipv4" });
  const after = restarted(before);
  for (const path of [`${project}/ips?include=assignments`, `${project}/bgp-config`, `/devices/${id}/bgp/sessions`]) {
    const shown = async (world: World) => JSON.parse((await world.call("GET", path)).body) as unknown;
    assert.deepEqual(await shown(after), await shown(before), path);
    assert.notDeepEqual(await shown(after), await shown(start()), `${path} is not empty`);
  }
});

const RESERVED = {
  hardware_reservation_id: "next-available",
  plan: "m3.small.x86",
  operating_system: "ubuntu_24_04",
};

function fromMachine({ sim }: World, id: string): Parameters<EquinixSim["metadata"]>[0] {
  const remote = sim.device(id)!.hardware.publicIp;
  return { method: "GET", url: "https://metadata.platformequinix.com/metadata", remote };
}

/** What may happen to a world. What the API refuses there happens not at all. */
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("order" as const), spot: fc.boolean(), pxe: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ is: fc.constant("time" as const), ms: fc.integer({ min: 0, max: 120_000 }) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constantFrom(
        ...(["power_on", "power_off", "reboot", "reinstall", "kill", "fail", "revoke", "delete"] as const),
        ...(["rename", "layer-2", "layer-3", "disbond", "assign", "vlan", "metadata", "key"] as const),
      ),
      which: fc.nat(5),
    }),
  },
);

async function happen(world: World, what: typeof happening extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const { sim, clock, call } = world;
  if (what.is === "order") return void (await ordered(world, { spot_instance: what.spot, always_pxe: what.pxe }));
  if (what.is === "time") return void (await clock.run(what.ms));
  const devices = sim.devices();
  const device = devices[what.which % devices.length];
  if (what.is === "vlan") return void (await call("POST", NETWORKS, { metro: "sg" }));
  if (what.is === "key") return sim.rotateKey(`key-${what.which}`);
  if (device === undefined) return;
  const bond = `/ports/${device.ports[0]!.id}`;
  switch (what.is) {
    case "kill":
      return sim.kill(device.id);
    case "fail":
      return sim.fail(device.id);
    case "revoke":
      return sim.revokeSpot(device.id);
    case "delete":
      return void (await call("DELETE", `/devices/${device.id}`));
    case "rename":
      return void (await call("PUT", `/devices/${device.id}`, { hostname: `name-${what.which}`, tags: ["b"] }));
    case "layer-2":
    case "layer-3":
      return void (await call("POST", `${bond}/convert/${what.is}`));
    case "disbond":
      return void (await call("POST", `${bond}/disbond`));
    case "assign":
      return void (await call("POST", `${bond}/assign`, { vnid: `${1000 + what.which}` }));
    case "metadata":
      return void (await sim.metadata({ ...fromMachine(world, device.id), method: "POST", url: "/phone-home" }));
    default:
      return void (await call("POST", `/devices/${device.id}/actions`, { type: what.is }));
  }
}

testRestarts({
  ...{ start, restarted, ordered, happening, happen },
  resting: ({ sim }) => sim.devices().every(({ state }) => ["active", "inactive", "failed"].includes(state)),
  damaged(good) {
    const [device] = (good as { devices: { ports: object[] }[] }).devices;
    const [port] = device!.ports;
    return [
      [{ ...good, purchases: [] }, /the purchase of device/],
      [{ ...good, devices: [{ ...device, state: "asleep" }] }, /devices\.0\.state: /],
      [{ ...good, devices: [{ ...device, plan: "no plan" }] }, /plan no plan/],
      [{ ...good, devices: [{ ...device, projectId: "other" }] }, /project other/],
      [{ ...good, devices: [{ ...device, ports: [{ ...port, vlans: ["lost"] }] }] }, /virtual network lost/],
      [{ ...good, devices: [{ ...device, ports: [{ ...port, bond: "bond9" }] }] }, /port bond9/],
      [{ ...good, reservations: [{ id: "r", plan: "p", metro: "m", device: "lost" }] }, /lost/],
    ];
  },
});
