import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, quietLog as log } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { readDocument } from "../files/document.ts";
import { ParlayLogs } from "../parlay/logs.ts";
import type { Ended } from "../ssh/child.ts";
import type { OpenShell } from "../ssh/shell.ts";
import { Maps } from "./maps.ts";

/** Machines that answer by a function, and remember what they were asked. */
function world(t: TestContext, answer: (host: string, command: string) => Partial<Ended> | Promise<Partial<Ended>>) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-maps-"));
  const asked: string[] = [];
  let open = 0;
  const shells: OpenShell = async (host) => {
    open++;
    return {
      async run(command, { signal }) {
        asked.push(`${host} ${command}`);
        const aborted = new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
        return {
          code: 0,
          output: "",
          errors: "",
          isCut: false,
          ...(await Promise.race([answer(host, command), aborted])),
        };
      },
      close: async () => void open--,
    };
  };
  const maps = new Maps({ folder, open: shells, clock: new VirtualClock(), log });
  t.after(async () => {
    await maps.close();
    rmSync(folder, { recursive: true });
  });
  return { maps, asked, folder, open: () => open };
}

const map = (host: string, ...actions: object[]) =>
  readDocument(
    JSON.stringify({
      deployments: [
        {
          name: "d",
          hosts: [host],
          actions: actions.map((each, at) => ({ name: `a${at}`, type: "command", ...each })),
        },
      ],
    }),
    "map",
  );

async function ended(maps: Maps, host: string): Promise<string> {
  const limit = AbortSignal.timeout(60_000);
  while (maps.logs.get(host)?.state === "Running") {
    if (limit.aborted) assert.fail(`the map on ${host} has not ended in 60 s`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return maps.logs.get(host)!.state;
}

test("N31 polling adds no state, and closes its connections: a map that is sent again begins its log anew", async (t) => {
  const { maps, asked, open, folder } = world(t, () => ({ output: "up" }));
  for (let time = 0; time < 12; time++) {
    await maps.begin(map("10.0.0.1", { command: "uptime" }), "a");
    assert.equal(await ended(maps, "10.0.0.1"), "Completed");
  }
  assert.equal(asked.length, 12);
  assert.deepEqual(
    maps.logs.get("10.0.0.1")?.entries.map(({ task, entry, error }) => [task, entry, error]),
    [["d: a0", "up", ""]],
  );
  assert.equal(open(), 0);
  assert.deepEqual(readdirSync(join(folder, "maps")), []);
});

test("N31 what is saved is of one client: two clusters share no token", async (t) => {
  const { maps, asked } = world(t, (host) => ({ output: `join-${host}` }));
  for (const [client, host] of [
    ["a", "10.0.0.1"],
    ["b", "10.0.0.2"],
  ] as const) {
    await maps.begin(map(host, { command: "token", commandSaveAsKey: "joinToken" }), client);
    assert.equal(await ended(maps, host), "Completed");
  }
  for (const [client, host] of [
    ["a", "10.0.0.3"],
    ["b", "10.0.0.4"],
  ] as const) {
    await maps.begin(map(host, { keyName: "joinToken" }), client);
    assert.equal(await ended(maps, host), "Completed");
  }
  assert.deepEqual(asked.slice(2), ["10.0.0.3 join-10.0.0.1", "10.0.0.4 join-10.0.0.2"]);
  await maps.begin(map("10.0.0.5", { keyName: "joinToken" }), "c");
  assert.equal(await ended(maps, "10.0.0.5"), "Failed");
  assert.match(maps.logs.get("10.0.0.5")!.entries[0]!.error, /nothing is saved under this name/);
});

test("N32 a failed map is Failed on every host of it, with the reason, and goes on where it was", async (t) => {
  let isGood = false;
  const { maps, asked } = world(t, (_, command) => ({
    code: command === "second" && !isGood ? 3 : 0,
    errors: "no room",
  }));
  const both = map("10.0.0.1", { command: "first" }, { command: "second" });
  await maps.begin(both, "a");
  assert.equal(await ended(maps, "10.0.0.1"), "Failed");
  assert.match(maps.logs.get("10.0.0.1")!.entries.at(-1)!.error, /ended with 3: no room/);
  isGood = true;
  await maps.begin(both, "a", { resume: true });
  assert.equal(await ended(maps, "10.0.0.1"), "Completed");
  assert.deepEqual(asked, ["10.0.0.1 first", "10.0.0.1 second", "10.0.0.1 second"]);
});

test("a machine is worked on by one map at a time, and netboot's end ends them all", async (t) => {
  const { maps, open } = world(t, () => new Promise<never>(() => {}));
  await maps.begin(map("10.0.0.1", { command: "sleep" }), "a");
  await assert.rejects(maps.begin(map("10.0.0.1", { command: "x" }), "b"), (error) => isFault(error, "Conflict"));
  for (let n = 2; n <= 16; n++) await maps.begin(map(`10.0.0.${n}`, { command: "sleep" }), "a");
  await assert.rejects(maps.begin(map("10.0.0.99", { command: "x" }), "b"), (error) => isFault(error, "Throttled"));
  await maps.close();
  assert.equal(maps.logs.get("10.0.0.1")?.state, "Failed");
  assert.equal(open(), 0);
});

test("what is told of machines is bounded", () => {
  const logs = new ParlayLogs();
  const report = { host: "10.0.0.1", deployment: "d", action: "a", output: "x".repeat(60_000) };
  logs.begin(report.host);
  for (let n = 0; n < 600; n++) logs.add(report, n);
  assert.equal(logs.get(report.host)?.entries.length, 500);
  for (let n = 0; n < 100; n++) {
    logs.begin(`busy${n}`);
    for (let m = 0; m < 100; m++) logs.add({ ...report, host: `busy${n}` }, m);
  }
  const told = [...Array(100).keys()].flatMap((n) => logs.get(`busy${n}`)?.entries ?? []);
  const all = [...told, ...(logs.get(report.host)?.entries ?? [])].reduce((sum, { entry }) => sum + entry.length, 0);
  assert.ok(all <= 32 * 1024 * 1024, `${all} characters`);
  for (let n = 0; n < 3_000; n++) logs.begin(`h${n}`);
  assert.equal(logs.get("h0"), undefined);
  assert.ok(logs.get("h2999"));
});
