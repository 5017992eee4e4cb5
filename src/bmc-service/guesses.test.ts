import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Guesses } from "./guesses.ts";

test("ten wrong passwords in a minute hold an address until the minute is over, and no other", async () => {
  const clock = new VirtualClock();
  const guesses = new Guesses(clock);
  for (let n = 0; n < 9; n++) guesses.wrong("a");
  assert.equal(guesses.heldMs("a"), 0);
  guesses.wrong("a");
  assert.deepEqual([guesses.heldMs("a"), guesses.heldMs("b")], [60_000, 0]);
  await clock.run(60_000);
  assert.equal(guesses.heldMs("a"), 0);
  guesses.wrong("a");
  assert.equal(guesses.heldMs("a"), 0, "it counts anew");
});

test("only so many addresses are counted: the oldest makes room for another", () => {
  const guesses = new Guesses(new VirtualClock());
  for (let n = 0; n < 10; n++) for (const address of ["first", "second"]) guesses.wrong(address);
  for (let n = 0; n < 4_095; n++) guesses.wrong(`other-${n}`);
  assert.deepEqual([guesses.heldMs("first"), guesses.heldMs("second")], [0, 60_000]);
});

test("a guess in the very moment in which the minute ends begins another one", async () => {
  const clock = new VirtualClock();
  const guesses = new Guesses(clock);
  guesses.wrong("a");
  await clock.run(60_000);
  for (let n = 0; n < 10; n++) guesses.wrong("a");
  assert.equal(guesses.heldMs("a"), 60_000);
});

test("an address that begins to guess anew is the youngest, and makes no room for another", async () => {
  const clock = new VirtualClock();
  const guesses = new Guesses(clock);
  guesses.wrong("again");
  guesses.wrong("second");
  await clock.run(60_000);
  for (let n = 0; n < 10; n++) guesses.wrong("again");
  for (let n = 0; n < 4_095; n++) guesses.wrong(`other-${n}`);
  assert.equal(guesses.heldMs("again"), 60_000);
});
