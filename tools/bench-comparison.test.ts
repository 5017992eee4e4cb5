import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeptRun } from "../bench/record.ts";
import { compared, comparisonLines } from "./bench-comparison.ts";

const run = (value: number, changed: Partial<KeptRun> = {}): KeptRun => ({
  ...{ command: "pool.bench.ts 100", node: "v24", cpu: "a", load: 0, at: "2026-01-01T00:00:00Z" },
  figures: [{ what: "from apply to ready", value, unit: "s" }],
  ...changed,
});
const runs = (...values: number[]): KeptRun[] => values.map((value) => run(value));

test("a figure has changed only where the values of both sides lie apart", () => {
  for (const [before, after, verdict, change] of [
    [[10, 11, 12], [20, 22, 24], "changed", 1],
    [[20, 22, 24], [10, 11, 12], "changed", -0.5],
    [[10, 11, 12], [12, 13, 14], "within noise", 13 / 11 - 1],
    [[10], [20, 21], "one run", 1.05],
  ] as const) {
    const [found] = compared(runs(...before), runs(...after));
    assert.equal(found?.verdict, verdict);
    assert.ok(Math.abs(found.change - change) < 1e-9, String(found.change));
  }
});

test("median and noise of either side", () => {
  const [found] = compared(runs(1, 4, 2, 3), runs(5, 7, 6));
  assert.deepEqual(found?.before, { runs: 4, median: 2.5, noise: 3 / 2.5 });
  assert.deepEqual(found?.after, { runs: 3, median: 6, noise: 2 / 6 });
});

test("other machines and other versions of Node are said; other arguments are other benchmarks", () => {
  assert.equal(compared(runs(1, 2), [run(5, { cpu: "b" }), run(6)])[0]?.verdict, "other machine");
  assert.equal(compared(runs(1, 2), [run(5), run(6, { node: "v26" })])[0]?.verdict, "other machine");
  assert.deepEqual(compared(runs(1, 2), [run(5, { command: "pool.bench.ts 1000" })]), []);
});

test("the table names the benchmark once, and each figure with both sides", () => {
  const lines = comparisonLines(compared(runs(10, 10), runs(15, 15)));
  assert.equal(lines[0], "pool.bench.ts 100");
  assert.match(lines[1]!, /from apply to ready +10\.00 ± +0 % \(2\) +15\.00 ± +0 % \(2\) s +\+50 % {2}changed/);
  assert.deepEqual(comparisonLines([]), ["no figure is on both sides"]);
});
