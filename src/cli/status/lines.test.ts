import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { Load } from "../../views/load.ts";
import type { Overview } from "../../views/overview.ts";
import type { Row } from "../../views/row.ts";
import { viewDocument } from "./document.ts";
import { bar, statusLines } from "./lines.ts";
import { loadLines } from "./load-lines.ts";

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const NOTHING: Overview = { machines: [], pools: [], clusters: [], waiting: [], failures: [] };
const row = (name: string, more: Partial<Row> = {}): Row => ({
  ...{ apiVersion: "v1", kind: "Pool", name, state: "ready", ready: true, created: NOW - MINUTE },
  ...more,
});
/** The screen with one space for many. */
const shown = (of: Partial<Overview>, wide = false): string[] =>
  statusLines({ ...NOTHING, ...of }, NOW, { wide }).map((line) =>
    stripVTControlCharacters(line).replaceAll(/ +/g, " ").trimEnd(),
  );

test("a section of one screen has twelve rows and the number of the others; a wide one has all", () => {
  const pools = (count: number) => Array.from({ length: count }, (_, i) => row(`p-${i}`));
  assert.equal(shown({ pools: pools(14) }).at(-1), " … 2 more");
  assert.equal(shown({ pools: pools(12) }).length, 14);
  assert.equal(shown({ pools: pools(14) }, true).length, 16);
});

test("sections have a line between them; what an object does not say is a dash", () => {
  const pool = row("p", { members: { ready: 1, wanted: 4 } });
  const cluster = row("c", { kind: "Cluster", namespace: "n", created: undefined });
  assert.deepEqual(shown({ pools: [pool, row("q")], clusters: [cluster] }), [
    ...["Pools", " NAME STATE READY AGE", " Pool/p ready 1/4 ██░░░░░░░░ 1m", " Pool/q ready - 1m", ""],
    ...["Clusters", " NAME STATE VERSION ENDPOINT AGE", " Cluster/n/c ready - - -"],
  ]);
  const owned = row("c", {
    kind: "Cluster",
    owner: "Team/a",
    waitsFor: "a\n  b",
    version: "v1.36.3",
    address: "h:6443",
  });
  assert.equal(shown({ clusters: [owned] }, true)[2], " Cluster/c ready v1.36.3 h:6443 1m Team/a a b");
});

test("machines are counted by state, the most frequent first", () => {
  const machines = [{ kind: "Instance", total: 5, ready: 3, states: { failed: 1, ordering: 1, managed: 3 } }];
  assert.equal(shown({ machines })[2], " Instance 5 3 managed 3, failed 1, ordering 1");
});

test("what waits has since when and until when; a failure how often it came, where it came more than once", () => {
  const waiting = [
    row("p", { waitsFor: "the\ncloud", waitsSince: NOW - 2 * MINUTE, waitsUntil: NOW + 3 * MINUTE }),
    row("q"),
  ];
  assert.deepEqual(shown({ waiting }).slice(2), [" Pool/p 2m the cloud 3m", " Pool/q - -"]);
  const failed = { kind: "Pool", name: "p", reason: "R", message: "a\nb", at: NOW - MINUTE };
  const failures = [
    { ...failed, count: 1 },
    { ...failed, count: 2, at: undefined },
  ];
  assert.deepEqual(shown({ failures }).slice(2), [" Pool/p 1m R a b", " Pool/p - R (2 times) a b"]);
});

test("a crew that holds all its shards has a dash for those that nobody holds", () => {
  const shards = [{ namespace: "ops", crew: "slipway-1", shards: 3, held: { "pod-a": 2, "pod-b": 1 }, free: [] }];
  assert.equal(shown({ shards })[2], " ops/slipway-1 3/3 pod-a 2, pod-b 1 -");
});

test("a bar is full only when all are there, and keeps its length whatever the numbers", () => {
  const full = (ready: number, wanted: number): number => [...bar(ready, wanted)].filter((one) => one === "█").length;
  assert.deepEqual(
    [full(0, 3), full(999, 1000), full(3, 3), full(4, 3), full(0, 0), full(-1, 3)],
    [0, 9, 10, 10, 10, 0],
  );
  assert.equal([...bar(2, 3)].length, 10);
});

test("a document has its moments as texts, and nothing of what is not there", () => {
  const view = { at: 0, waitsSince: undefined, rows: [{ created: NOW, waitsUntil: NOW }], count: 3, node: null };
  assert.deepEqual(viewDocument(view), {
    at: "1970-01-01T00:00:00Z",
    rows: [{ created: "2026-01-01T00:00:00Z", waitsUntil: "2026-01-01T00:00:00Z" }],
    ...{ count: 3, node: null },
  });
});

test("what an operator does has a dash for rates of one look, fifteen rows at most, and says that it leads nothing", () => {
  const counted = { total: 1, perMinute: undefined };
  const calls = Array.from({ length: 17 }, (_, i) => ({
    provider: `p${i}`,
    operation: "list",
    code: "ok",
    ...counted,
  }));
  const load: Load = {
    ...{ machines: { bought: counted, released: counted, replaced: { total: 12, perMinute: 9.96 } }, calls },
    ...{ controllers: [], leads: [] },
  };
  const lines = loadLines(load).map((line) => stripVTControlCharacters(line).replaceAll(/ +/g, " ").trimEnd());
  assert.deepEqual(lines.slice(0, 7), [
    ...["Leads nothing", "", "Machines", " PER MINUTE TOTAL", " bought - 1", " released - 1", " replaced 10.0 12"],
  ]);
  assert.deepEqual([lines.length, lines.at(-1), lines.includes("Controllers")], [26, " … 2 more", false]);
  assert.match(loadLines({ ...load, calls: calls.slice(0, 15), leads: ["a", "b"] }).join("\n"), /a, b[^…]*$/);
});
