import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "./cpu-growth.ts";

test("work in proportion to its input passes, quadratic work does not", () => {
  let steps = 0;
  const cpu = (work: () => void): number => {
    steps = 0;
    work();
    return steps;
  };
  const growthOf = (taken: (n: number) => number): number =>
    cpuGrowth(
      (n) => () => {
        steps = taken(n);
      },
      1_000,
      64_000,
      cpu,
    );
  assert.equal(
    growthOf((n) => n / 1_000),
    2,
  );
  assert.ok(growthOf((n) => (n * Math.log2(n)) / 1_000) <= MAX_GROWTH);
  assert.ok(growthOf((n) => n ** 2 / 1_000_000) > MAX_GROWTH);
});

test("the processor's time of this thread is what counts", () => {
  const work = (n: number) => () => {
    let sum = 0;
    for (let i = 0; i < n * 1_000; i++) sum += i % 7;
    assert.ok(sum > 0);
  };
  const growth = cpuGrowth(work, 1_000);
  assert.ok(growth > 0 && growth <= MAX_GROWTH, `${growth}`);
});

test("what is too quick to measure even at the largest input counts for nothing", () => {
  assert.equal(
    cpuGrowth(() => () => {}, 1, 8),
    0,
  );
});
