import assert from "node:assert/strict";
import { test } from "node:test";
import { type HttpAnswer, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { type RememberingFirmware, rememberingFirmware } from "../remembering-firmware.ts";
import { testRestarts } from "../restart-promises.ts";
import { createLatitudeSim, type LatitudeSim } from "./latitude-sim.ts";
import { DEFAULT_PROJECT, type LatitudeSimOptions } from "./options.ts";
import type { Status } from "./world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Deployed after 60 s, installed after 110 s, in service after 120 s. */
const TIMINGS = { deployingMs: [MINUTE, MINUTE] } as const;

interface Rig {
  clock: VirtualClock;
  sim: LatitudeSim;
  firmware: RememberingFirmware;
  call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, attributes?: object): Promise<HttpAnswer>;
}

function start(options: Partial<LatitudeSimOptions> = {}, clock = new VirtualClock()): Rig {
  const firmware = rememberingFirmware(clock);
  // A process that goes on draws other ids than the one before it.
  const random = seededRandom(options.restore === undefined ? 7 : 8);
  const sim = createLatitudeSim({ clock, random, firmware, timings: TIMINGS, ...options });
  const call: Rig["call"] = (method, path, attributes) =>
    sim.handle({
      method,
      url: `https://latitude.test${path}`,
      headers: { authorization: sim.token },
      remote: "192.0.2.1",
      ...(attributes === undefined ? {} : { body: JSON.stringify({ data: { type: "any", attributes } }) }),
    });
  return { clock, sim, firmware, call };
}

/** The process is killed, and another finds what was written. */
function restarted(rig: Rig, options: Partial<LatitudeSimOptions> = {}): Rig {
  const restore: unknown = JSON.parse(JSON.stringify(rig.sim.snapshot()));
  return start({ ...options, restore }, new VirtualClock(rig.clock.now()));
}

const INSTALLATION = { operating_system: "ipxe", ipxe: "https://boot.test/script" };

async function ordered({ call }: Rig, changes: object = {}): Promise<string> {
  const { id: project } = DEFAULT_PROJECT;
  const order = { project, plan: "c3-small-x86", site: "DAL", hostname: "node-1", ...INSTALLATION, ...changes };
  const answer = await call("POST", "/servers", order);
  assert.equal(answer.status, 201);
  return JSON.parse(answer.body).data.id;
}

async function madeUserData({ call }: Rig): Promise<string> {
  const content = Buffer.from("#cloud-config\n").toString("base64");
  const answer = await call("POST", "/user_data", { description: "claim", content });
  return JSON.parse(answer.body).data.id;
}

const power = async ({ call }: Rig, id: string, action: string): Promise<void> => {
  assert.equal((await call("POST", `/servers/${id}/actions`, { action })).status, 201);
};
const reinstall = async ({ call }: Rig, id: string): Promise<void> => {
  assert.equal((await call("POST", `/servers/${id}/reinstall`, INSTALLATION)).status, 201);
};

interface Case {
  name: string;
  at: Status;
  /** Brings a server that is 130 s old, or with `young` new, there. */
  young?: true;
  bring?: (rig: Rig, id: string) => void | Promise<void>;
  afterMs?: number;
  /** The status in the end; undefined: it is gone. */
  end: Status | undefined;
  /** The first boot of the second process. */
  boots: "network" | "disk" | undefined;
}

const CASES: readonly Case[] = [
  { name: "being deployed", at: "deploying", young: true, afterMs: 30_000, end: "on", boots: "network" },
  { name: "installing", at: "on", young: true, afterMs: 95_000, end: "on", boots: "network" },
  { name: "installed", at: "on", young: true, afterMs: 115_000, end: "on", boots: "disk" },
  { name: "in service", at: "on", end: "on", boots: "disk" },
  { name: "switching off", at: "on", bring: (rig, id) => power(rig, id, "power_off"), end: "off", boots: undefined },
  {
    name: "off",
    at: "off",
    bring: (rig, id) => power(rig, id, "power_off"),
    afterMs: 15_000,
    end: "off",
    boots: undefined,
  },
  { name: "rebooting", at: "on", bring: (rig, id) => power(rig, id, "reboot"), end: "on", boots: "disk" },
  { name: "being erased for a reinstall", at: "disk_erasing", bring: reinstall, end: "on", boots: "network" },
  {
    name: "being deployed again",
    at: "deploying",
    bring: reinstall,
    afterMs: 90_000,
    end: "on",
    boots: "network",
  },
  {
    name: "failed",
    at: "failed_deployment",
    bring: ({ sim }, id) => sim.fail(id),
    end: "failed_deployment",
    boots: undefined,
  },
  { name: "dead", at: "on", bring: ({ sim }, id) => sim.kill(id), end: "on", boots: undefined },
  {
    name: "given back",
    at: "disk_erasing",
    bring: async ({ call }, id) => void (await call("DELETE", `/servers/${id}`)),
    end: undefined,
    boots: undefined,
  },
];

for (const { name, at, young, bring, afterMs = 0, end, boots } of CASES) {
  test(`a server that is ${name} is shown the same after a restart, and goes on`, async () => {
    const before = start();
    const id = await ordered(before);
    if (!young) await before.clock.run(130 * SECOND);
    await bring?.(before, id);
    await before.clock.run(afterMs);
    assert.equal(before.sim.server(id)?.status, at);

    const after = restarted(before);
    assert.deepEqual(await after.call("GET", "/servers"), await before.call("GET", "/servers"));
    assert.deepEqual(after.sim.snapshot(), before.sim.snapshot());

    await after.clock.run(10 * MINUTE);
    assert.equal(after.sim.server(id)?.status, end);
    assert.deepEqual(after.firmware.boots, boots === undefined ? [] : [{ hostname: "node-1", from: boots }]);
    if (end === "on" && boots !== undefined) assert.equal(after.sim.server(id)?.progress?.stage, "joined");
  });
}

test("user data, networks, stock, the key and the orders are found again", async () => {
  const before = start({ stock: { "DAL/c3-small-x86": 2 } });
  const id = await ordered(before, { user_data: await madeUserData(before) });
  const network = before.sim.addNetwork("DAL", "storage");
  const wish = { server_id: id, virtual_network_id: network.id };
  assert.equal((await before.call("POST", "/virtual_networks/assignments", wish)).status, 201);
  before.sim.rotateKey("another-key");
  before.sim.lock(id, true);

  const after = restarted(before, { stock: { "DAL/c3-small-x86": 100 }, token: "first-key" });

  for (const path of ["/servers", "/user_data", "/virtual_networks", "/virtual_networks/assignments"]) {
    assert.deepEqual(await after.call("GET", path), await before.call("GET", path), path);
  }
  assert.equal(after.sim.token, "another-key");
  assert.deepEqual(after.sim.boughtEver(), before.sim.boughtEver());
  assert.equal(after.sim.addNetwork("DAL").vid, network.vid + 1);
  const next = after.sim.server(await ordered(after))!.hardware;
  assert.notEqual(next.publicIp, after.sim.server(id)!.hardware.publicIp);
  const { id: project } = DEFAULT_PROJECT;
  const order = { project, plan: "c3-small-x86", site: "DAL", hostname: "node-3", ...INSTALLATION };
  assert.equal((await after.call("POST", "/servers", order)).status, 422, "two were for sale, and are sold");
});

/** What may happen. What the API refuses there happens not at all. */
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constant("order" as const), withUserData: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ is: fc.constant("time" as const), ms: fc.integer({ min: 0, max: 120_000 }) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constantFrom(
        ...(["power_on", "power_off", "reboot", "reinstall", "kill", "fail", "delete", "rename"] as const),
        ...(["assign", "network", "lock", "unlock", "key", "stock"] as const),
      ),
      which: fc.nat(5),
    }),
  },
);

async function happen(rig: Rig, what: typeof happening extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const { sim, clock, call } = rig;
  if (what.is === "order") {
    return void (await ordered(rig, what.withUserData ? { user_data: await madeUserData(rig) } : {}));
  }
  if (what.is === "time") return void (await clock.run(what.ms));
  if (what.is === "network") return void sim.addNetwork("DAL");
  if (what.is === "key") return sim.rotateKey(`key-${what.which}`);
  if (what.is === "stock") return sim.setStock("DAL", "c3-small-x86", 10 + what.which);
  const servers = sim.servers();
  const id = servers[what.which % servers.length]?.id;
  if (id === undefined) return;
  switch (what.is) {
    case "kill":
      return sim.kill(id);
    case "fail":
      return sim.fail(id);
    case "delete":
      return void (await call("DELETE", `/servers/${id}`));
    case "rename":
      return void (await call("PATCH", `/servers/${id}`, { hostname: `name-${what.which}` }));
    case "reinstall":
      return void (await call("POST", `/servers/${id}/reinstall`, INSTALLATION));
    case "lock":
    case "unlock":
      return void (await call("POST", `/servers/${id}/${what.is}`));
    case "assign": {
      const networks = JSON.parse((await call("GET", "/virtual_networks")).body).data;
      const wish = { server_id: id, virtual_network_id: networks[0]?.id ?? "none" };
      return void (await call("POST", "/virtual_networks/assignments", wish));
    }
    default:
      return void (await call("POST", `/servers/${id}/actions`, { action: what.is }));
  }
}

testRestarts({
  ...{ start, restarted, ordered, happening, happen },
  resting: ({ sim }) => sim.servers().every(({ status }) => ["on", "off", "failed_deployment"].includes(status)),
  damaged(good) {
    const [server] = (good as { servers: object[] }).servers;
    return [
      [{ ...good, stock: 7 }, /stock: /],
      [{ ...good, servers: [{ ...server, status: "asleep" }] }, /servers\.0\.status: /],
      [{ ...good, assignments: [{ id: "a", network: "n", server: "lost", createdAt: 0 }] }, /server lost/],
    ];
  },
});
