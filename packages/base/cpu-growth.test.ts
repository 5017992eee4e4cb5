import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "./cpu-growth.ts";

test("work in proportion to its input passes, quadratic work does not", () => {
  const linear = (n: number) => () => {
    let sum = 0;
    for (let i = 0; i < n * 1000; i++) sum += i % 7;
    return sum;
  };
  const quadratic = (n: number) => () => {
    let sum = 0;
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) sum += (i ^ j) % 7;
    return sum;
  };
  assert.ok(cpuGrowth((n) => () => void linear(n)(), 1_000) <= MAX_GROWTH);
  assert.ok(cpuGrowth((n) => () => void quadratic(n)(), 1_000) > MAX_GROWTH);
});

test("what is too quick to measure even at the largest input counts for nothing", () => {
  assert.equal(
    cpuGrowth(() => () => {}, 1, 8),
    0,
  );
});
