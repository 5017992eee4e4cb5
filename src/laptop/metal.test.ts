import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault, type HttpHandler, isFault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client } from "@slipway/kube";
import type { Counterpart } from "../systems/counterpart.ts";
import { EXAMPLE_KEYS, type MetalOptions, startMetal } from "./metal.ts";

const EQUINIX = `/projects/${EXAMPLE_KEYS.equinix.project.id}`;

/** A cluster that takes no machine, and says when it starts and ends. */
function cluster(name: string, said: string[]): Counterpart {
  return {
    title: name,
    async start({ vip, joinToken }) {
      said.push(`${name} starts at ${vip} with ${joinToken}`);
      return {
        join: async () => ({ is: "refused", reason: `${name} is full` }),
        powerLost() {},
        close: () => void said.push(`${name} ends`),
      };
    },
    leftOvers: async () => [],
  };
}

async function metal(dir: string | undefined, options: Partial<MetalOptions> = {}) {
  const clock = new VirtualClock();
  const said: string[] = [];
  const handlers = new Map<string, HttpHandler>();
  const made = await startMetal({
    ...{ client: {} as Client, clock, random: seededRandom(dir === undefined ? 1 : 2), log: quietLog, dir },
    http: async () => {
      throw new Fault("Unavailable", "boot service", "there is none");
    },
    ...{ vip: "10.0.0.4", joinToken: "the-token", counterparts: [cluster("A", said), cluster("B", said)] },
    async serve(origin, handler) {
      handlers.set(origin, handler);
      return { url: origin, close: async () => void said.push(`${origin} ends`) };
    },
    ...options,
  });
  const ask = async (method: "GET" | "POST", url: string, headers: Record<string, string>, body?: object) => {
    const handler = handlers.get(new URL(url).origin)!;
    const answer = await handler({
      method,
      url,
      headers,
      remote: "127.0.0.1",
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(String(answer.body)) };
  };
  const equinix = (method: "GET" | "POST", path: string, body?: object) =>
    ask(method, `${made.equinix.url}${EQUINIX}${path}`, { "x-auth-token": EXAMPLE_KEYS.equinix.token }, body);
  const latitude = (method: "GET" | "POST", path: string, body?: object) =>
    ask(method, `${made.latitude.url}${path}`, { authorization: EXAMPLE_KEYS.latitude.token }, body);
  return { ...made, clock, said, equinix, latitude };
}

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "slipway-metal-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

const DEVICE = { plan: "c3.small.x86", metro: "sg", operating_system: "ubuntu_24_04", hostname: "node-1" };
const SERVER = {
  ...{ project: EXAMPLE_KEYS.latitude.project.id, plan: "c3-small-x86", site: "DAL" },
  ...{ operating_system: "ubuntu_24_04_x64_lts", hostname: "node-1" },
};

test("the simulated clouds take the examples' keys, have the examples' networks, and keep their machines over a restart", async (t) => {
  const dir = folder(t);
  const first = await metal(dir);
  assert.equal((await first.equinix("POST", "/devices", DEVICE)).status, 201);
  const ordered = await first.latitude("POST", "/servers", { data: { type: "servers", attributes: SERVER } });
  assert.equal(ordered.status, 201, JSON.stringify(ordered.body));
  await first.close();
  assert.deepEqual(first.said, [
    ...["A starts at 10.0.0.4 with the-token", "B starts at 10.0.0.4 with the-token"],
    ...["https://api.equinix.com ends", "https://api.latitude.sh ends", "B ends", "A ends"],
  ]);
  assert.deepEqual(readdirSync(dir).sort(), ["equinix.json", "latitude.json"]);

  const second = await metal(dir);
  const names = (list: { hostname: string }[]): string[] => list.map(({ hostname }) => hostname);
  assert.deepEqual(names((await second.equinix("GET", "/devices")).body.devices), ["node-1"]);
  const servers = (await second.latitude("GET", "/servers")).body.data as { attributes: { hostname: string } }[];
  assert.deepEqual(names(servers.map(({ attributes }) => attributes)), ["node-1"]);
  const { body } = await second.equinix("GET", "/virtual-networks");
  const networks = (body.virtual_networks as { vxlan: number; metro_code?: string }[]).map(({ vxlan }) => vxlan);
  assert.deepEqual(networks.sort(), [1000, 1001], "they are there once");
  await second.close();
});

test("a cloud that is closed does nothing any more: its machines have no timers", async () => {
  const { equinix, latitude, clock, close } = await metal(undefined);
  await equinix("POST", "/devices", DEVICE);
  await latitude("POST", "/servers", { data: { type: "servers", attributes: SERVER } });
  await clock.run(10_000);
  assert.ok(clock.pending > 0, "machines are on their way");
  await close();
  assert.equal(clock.pending, 0);
});

test("without a folder nothing is kept", async () => {
  for (let run = 0; run < 2; run++) {
    const { equinix, close } = await metal(undefined);
    assert.deepEqual((await equinix("GET", "/devices")).body.devices, []);
    await equinix("POST", "/devices", DEVICE);
    await close();
  }
});

test("machines are as many times faster as is asked for", async () => {
  for (const [speed, afterMs, states] of [
    [undefined, 130_000, ["provisioning"]],
    [100, 3_000, ["active"]],
  ] as const) {
    const { equinix, clock, close } = await metal(undefined, speed === undefined ? {} : { speed });
    await equinix("POST", "/devices", DEVICE);
    await clock.run(afterMs);
    const { devices } = (await equinix("GET", "/devices")).body as { devices: { state: string }[] };
    assert.deepEqual(
      devices.map(({ state }) => state),
      states,
    );
    await close();
  }
});

test("a saved state that can't be read is refused by its file", async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, "latitude.json"), "{");
  await assert.rejects(
    metal(dir),
    (error) => isFault(error, "Invalid") && /delete \S+latitude\.json/.test(error.advice),
  );
});
