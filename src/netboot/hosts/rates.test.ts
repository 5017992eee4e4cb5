import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Rates } from "./rates.ts";

test("each key has its burst, then its pace; a step of the wall clock neither adds nor takes", async () => {
  const clock = new VirtualClock();
  const rates = new Rates(clock, { perSecond: 2, burst: 3, keys: 10 });
  const takes = (key: string): number => Array.from({ length: 10 }, () => rates.take(key)).filter(Boolean).length;

  assert.deepEqual([takes("a"), takes("b"), takes("a")], [3, 3, 0]);
  await clock.run(1_000);
  assert.equal(takes("a"), 2);
  for (const hours of [1, -1, -1]) {
    clock.step(hours * 3_600_000);
    assert.equal(takes("a"), 0);
  }
  await clock.run(1_000);
  assert.equal(takes("a"), 2);
});

test("so many keys are remembered, those that were used last", () => {
  const rates = new Rates(new VirtualClock(), { perSecond: 1, burst: 1, keys: 100 });
  for (let key = 0; key < 100_000; key++) rates.take(String(key));
  assert.equal(rates.size, 100);
  assert.equal(rates.take("99999"), false);
});
