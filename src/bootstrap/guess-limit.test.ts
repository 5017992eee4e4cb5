import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { GuessLimit } from "./guess-limit.ts";

const limitOf = (clock: VirtualClock): GuessLimit => new GuessLimit(clock, { most: 2, windowMs: 60_000, keys: 3 });

test("after as many wrong guesses as are allowed a key waits until its window is over", async () => {
  const clock = new VirtualClock();
  const limit = limitOf(clock);
  limit.wrong("a");
  assert.equal(limit.waitMs("a"), 0);
  await clock.run(20_000);
  limit.wrong("a");
  assert.equal(limit.waitMs("a"), 40_000);
  await clock.run(39_999);
  assert.equal(limit.waitMs("a"), 1);
  await clock.run(1);
  assert.equal(limit.waitMs("a"), 0);
  limit.wrong("a");
  assert.equal(limit.waitMs("a"), 0);
});

test("one key's guesses are not another's", () => {
  const limit = limitOf(new VirtualClock());
  limit.wrong("a");
  limit.wrong("a");
  assert.equal(limit.waitMs("b"), 0);
  assert.equal(limit.waitMs("a"), 60_000);
});

test("only so many keys are remembered; the oldest is forgotten first", () => {
  const limit = limitOf(new VirtualClock());
  for (const key of ["a", "a", "b", "b", "c", "c"]) limit.wrong(key);
  limit.wrong("d");
  assert.equal(limit.waitMs("a"), 0);
  assert.equal(limit.waitMs("b"), 60_000);
  assert.equal(limit.waitMs("c"), 60_000);
});
