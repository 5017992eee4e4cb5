import assert from "node:assert/strict";
import { test } from "node:test";
import { plain, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { runAgent } from "./server-agent.ts";
import { type AgentMachine, SOUND } from "./server-parts.ts";

test("a server whose power is cut while a file for its disk is on its way has nothing written on the disk", async () => {
  const clock = new VirtualClock();
  const disk = { facts: { name: "sda", bytes: 1e9, byId: [] }, content: undefined };
  const asked = Promise.withResolvers<void>();
  const file = Promise.withResolvers<string>();
  const data = { files: [{ path: "user-data", url: "http://netboot.invalid/f" }] };
  const order = { id: "1", order: "write", url: "http://images.example/i", disk: "sda", data };
  const power = new AbortController();
  const server = {
    ...{ name: "s", mac: "52:54:00:00:00:01", macs: [], address: "10.0.0.1", disks: [disk], clock },
    ...{ random: seededRandom(1), faults: SOUND, timings: { write: 1_000 }, restart: () => {} },
    network: {
      agents: async ({ method, url }: { method: string; url: string }) => {
        if (url.endsWith("/hosts")) return plain(200, JSON.stringify({ host: "s", token: "t" }));
        return method === "GET" ? plain(200, JSON.stringify(order)) : assert.fail("it reports without power");
      },
      file: () => {
        asked.resolve();
        return file.promise;
      },
    },
  } as unknown as AgentMachine;
  const end = runAgent(server, "capability", power.signal);
  const ran = clock.run(1_000);
  await asked.promise;
  power.abort(new Error("the power was cut"));
  file.resolve("late");
  assert.equal(await end, "off");
  await ran;
  assert.equal(disk.content, undefined);
});
