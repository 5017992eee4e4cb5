import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { isFault } from "@slipway/base";
import { loadOf } from "../views/load.ts";
import { samplesIn } from "../views/samples.ts";
import { clipped, Screen } from "./listing/screen.ts";
import { loadLines } from "./status/load-lines.ts";
import { servedCluster, spoken } from "./testing.ts";
import { verb as top } from "./top.ts";

const scrape = (bought: number, calls: number, depth = 2): string => `
# HELP slipway_machines_bought_total Machines bought
slipway_machines_bought_total ${bought}
slipway_cloud_calls_total{provider="latitude",operation="list",code="ok"} ${calls}
slipway_cloud_calls_total{provider="latitude",operation="create",code="NoCapacity"} 1
controller_runtime_max_concurrent_reconciles{controller="pools"} 4
controller_runtime_active_workers{controller="pools"} 1
controller_runtime_reconcile_total{controller="pools",result="success"} ${calls}
controller_runtime_reconcile_errors_total{controller="pools"} 0
workqueue_depth{name="pools",controller="pools"} ${depth}
workqueue_delayed{name="pools",controller="pools"} 7
leader_election_master_status{name="slipway-netboot"} 1
leader_election_master_status{name="slipway-netboot"} 0
`;

test("metrics are read with their labels and escapes, and those of replicas are summed up", () => {
  const samples = samplesIn('a{x="1\\"2\\\\n"} 3 1700000000\nb 1e3\nnonsense\nc NaN\n', "b 1\n");
  assert.deepEqual(
    [...samples.values()],
    [
      { name: "a", labels: { x: '1"2\\n' }, value: 3 },
      { name: "b", labels: {}, value: 1001 },
    ],
  );
});

test("rates are per minute; a counter that went back counts from 0", () => {
  const load = loadOf(samplesIn(scrape(7, 30)), samplesIn(scrape(4, 40)), 30);
  assert.deepEqual(load.machines.bought, { total: 7, perMinute: 6 });
  assert.deepEqual(
    load.calls.map(({ operation, perMinute }) => [operation, perMinute]),
    [
      ["list", 60],
      ["create", 0],
    ],
  );
  assert.deepEqual(load.controllers, [
    {
      name: "pools",
      waiting: 2,
      delayed: 7,
      active: 1,
      reconciles: { total: 30, perMinute: 60 },
      errors: { total: 0, perMinute: 0 },
    },
  ]);
  assert.deepEqual(load.leads, ["netboot"]);
  assert.equal(loadOf(samplesIn(scrape(7, 30))).machines.bought.perMinute, undefined);
});

test("the screen has machines, calls and controllers", () => {
  const lines = loadLines(loadOf(samplesIn(scrape(7, 30)), samplesIn(scrape(4, 20)), 60)).map(stripVTControlCharacters);
  assert.equal(lines[0], "Leads netboot");
  assert.ok(
    lines.some((line) => /^ {2}bought +3\.0 +7$/.test(line)),
    lines.join("\n"),
  );
  assert.ok(
    lines.some((line) => /^ {2}latitude +list +ok +10 +30$/.test(line)),
    lines.join("\n"),
  );
  assert.ok(
    lines.some((line) => /^ {2}pools +2 +7 +1 +10 +0\.0 +0$/.test(line)),
    lines.join("\n"),
  );
});

test("an operator outside the cluster is asked by its address, twice", async (t) => {
  let asked = 0;
  const server = createServer((_, answer) => answer.end(scrape(++asked, 10 * asked))).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  const { out } = await spoken(t, top, "top", "--metrics-url", url, "--interval", "0.05", "-o", "json");
  const { machines } = JSON.parse(out);
  assert.equal(machines.bought.total, 2);
  assert.ok(machines.bought.perMinute > 0);
  assert.equal(asked, 2);
});

test("a cluster in which no operator runs is refused with what to name", async (t) => {
  const { kubeconfig } = await servedCluster(t);
  await assert.rejects(
    spoken(t, top, "top", "--kubeconfig", kubeconfig),
    (error) => isFault(error, "MissingInput") && /--operator-namespace.*--metrics-url/.test(error.advice),
  );
});

test("a line is cut to the terminal's width, and its colour ends with it", () => {
  assert.equal(clipped("abcdef", 3), "abc");
  assert.equal(clipped("\x1b[31mabcdef\x1b[39m", 3), "\x1b[31mabc\x1b[0m");
  assert.equal(clipped("█░█", 2), "█░");
});

test("the screen is taken, drawn within its size, and given back; q and Ctrl-C end it", () => {
  let out = "";
  let quits = 0;
  let typed: (bytes: Buffer) => void = () => {};
  const raw: boolean[] = [];
  const keys = {
    ...{ isTTY: true, setRawMode: (on: boolean) => raw.push(on), resume: () => {}, pause: () => {}, off: () => {} },
    on: (_: "data", listener: typeof typed) => {
      typed = listener;
    },
  };
  const screen = new Screen({ write: (text: string) => (out += text), columns: 5, rows: 3 }, keys, () => quits++);
  screen.draw(["one", "two is long", "three"], "last");
  assert.deepEqual(stripVTControlCharacters(out).split("\r\n"), ["one", "two i", "last"]);
  for (const key of ["x", "q", "\x03"]) typed(Buffer.from(key));
  screen.close();
  assert.deepEqual([quits, raw], [2, [true, false]]);
  assert.ok(out.startsWith("\x1b[?1049h") && out.endsWith("\x1b[?1049l"));
});
