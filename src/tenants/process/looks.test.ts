import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Looks } from "./looks.ts";

/** A look that ends when the test says so. */
function rig() {
  const clock = new VirtualClock();
  const open: { signal: AbortSignal; end: (nextMs?: number) => void }[] = [];
  let most = 0;
  let under = 0;
  const looks = new Looks(clock, async (signal) => {
    most = Math.max(most, ++under);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    open.push({ signal, end: (nextMs) => resolve(nextMs) });
    return await promise.finally(() => under--);
  });
  return { clock, looks, open, most: () => most };
}

test("looks that are asked for at once happen one at a time, and no more than one after the other", async () => {
  const { looks, open, most } = rig();
  for (let n = 0; n < 5; n++) looks.soon();
  assert.equal(open.length, 1);
  open[0]!.end();
  await setImmediate();
  assert.equal(open.length, 2);
  open[1]!.end();
  await setImmediate();
  assert.deepEqual([open.length, most()], [2, 1]);
});

test("a look that is under way when it rests knows that it no longer counts, and none comes after it", async () => {
  const { clock, looks, open } = rig();
  looks.soon();
  looks.soon();
  const rested = looks.rest();
  assert.equal(open[0]!.signal.aborted, true);
  open[0]!.end(10);
  await rested;
  await clock.run(100);
  assert.equal(open.length, 1);
});

test("who wakes before the last look has ended gets another one after it", async () => {
  const { looks, open, most } = rig();
  looks.soon();
  const rested = looks.rest();
  looks.soon();
  open[0]!.end();
  await rested;
  await setImmediate();
  assert.deepEqual([open.length, most(), open[1]!.signal.aborted], [2, 1, false]);
});

test("the next look comes when the last one said", async () => {
  const { clock, looks, open } = rig();
  looks.soon();
  open[0]!.end(250);
  await setImmediate();
  await clock.run(249);
  assert.equal(open.length, 1);
  await clock.run(1);
  assert.equal(open.length, 2);
});

test("a look that is planned does not come once it rests", async () => {
  const { clock, looks, open } = rig();
  looks.soon();
  open[0]!.end(250);
  await setImmediate();
  await looks.rest();
  await clock.run(1_000);
  assert.equal(open.length, 1);
});
