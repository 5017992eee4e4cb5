import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { ParlayLogs } from "./logs.ts";
import type { Report } from "./parlay.ts";

const report = (host: string, output: string, more: Partial<Report> = {}): Report => ({
  ...{ host, deployment: "d", action: "a", output },
  ...more,
});

test("a log has what each action printed and why it failed, until a map begins on the host again", () => {
  const logs = new ParlayLogs();
  logs.add(report("h", "unseen"), 0);
  assert.equal(logs.get("h"), undefined);
  logs.begin("h");
  assert.deepEqual(logs.running(), ["h"]);
  const error = new Fault("Refused", "h", "ended with 1");
  logs.add(report("h", "one"), 0);
  logs.add(report("h", "", { error, isIgnored: true }), 1_000);
  logs.add(report("h", "", { error }), 1_000);
  logs.end("h", "Failed");
  const failed = { created: "1970-01-01T00:00:01.000Z", task: "d: a", entry: "" };
  assert.deepEqual(logs.get("h"), {
    state: "Failed",
    entries: [
      { created: "1970-01-01T00:00:00.000Z", task: "d: a", entry: "one", error: "" },
      { ...failed, error: `ignored: ${error.advice}` },
      { ...failed, error: error.advice },
    ],
  });
  assert.deepEqual(logs.running(), []);
  logs.begin("h");
  assert.deepEqual(logs.get("h"), { state: "Running", entries: [] });
  assert.deepEqual([logs.delete("h"), logs.delete("h"), logs.get("h")], [true, false, undefined]);
});

test("of one host the newest 500 entries are kept, and of hosts the newest 2,000", () => {
  const logs = new ParlayLogs();
  logs.begin("h");
  for (let i = 0; i <= 500; i++) logs.add(report("h", String(i)), 0);
  const { entries } = logs.get("h")!;
  assert.deepEqual([entries.length, entries[0]?.entry, entries.at(-1)?.entry], [500, "1", "500"]);
  for (let i = 1; i < 2_000; i++) logs.begin(`h${i}`);
  assert.ok(logs.get("h"));
  logs.begin("one more");
  assert.deepEqual([logs.get("h"), logs.get("h1")?.state], [undefined, "Running"]);
});

test("all logs together have 32 MiB: other hosts' oldest entries go first, and what was just told stays", () => {
  const logs = new ParlayLogs();
  const big = "x".repeat(12 * 2 ** 20);
  for (const host of ["a", "b"]) logs.begin(host);
  for (const host of ["a", "a", "b"]) logs.add(report(host, big), 0);
  assert.deepEqual([logs.get("a")?.entries.length, logs.get("b")?.entries.length], [1, 1]);
  logs.add(report("b", "x".repeat(40 * 2 ** 20)), 0);
  assert.deepEqual([logs.get("a")?.entries.length, logs.get("b")?.entries.length], [0, 1]);
  // What is deleted takes no room.
  logs.delete("b");
  for (const _ of [1, 2]) logs.add(report("a", big), 0);
  assert.equal(logs.get("a")?.entries.length, 2);
});
