import assert from "node:assert/strict";
import { test } from "node:test";
import { hasBegunSince, isInAgent } from "./facts.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const session = (spokeAgoMs: number, registeredAgoMs = spokeAgoMs) =>
  ({ session: { spokeAt: NOW - spokeAgoMs, registeredAt: NOW - registeredAgoMs } }) as never;

test("a machine is in the agent while that has spoken in the last 90 s", () => {
  assert.equal(isInAgent(factsOf("available")), false);
  assert.equal(isInAgent(factsOf("available", { machine: {} as never })), false);
  assert.equal(isInAgent(factsOf("available", { machine: session(89_999) })), true);
  assert.equal(isInAgent(factsOf("available", { machine: session(90_000) })), false);
});

test("the agent of a machine that is off has gone with it, however recently it spoke", () => {
  assert.equal(isInAgent(factsOf("available", { machine: session(1_000), bmc: bmcThat("off") })), false);
  assert.equal(isInAgent(factsOf("available", { machine: session(1_000), bmc: bmcThat("on") })), true);
});

test("an agent that left for the disk does not count, unless it has registered anew or goes on speaking for 30 s", () => {
  const left = (end: string | null, spokeAgoMs: number, registeredAgoMs: number): boolean =>
    isInAgent(
      factsOf("provisioned", {
        machine: session(spokeAgoMs, registeredAgoMs),
        status: { operationHistory: { provision: { start: at("11:00:00"), end } } },
      }),
    );
  const end = at("11:59:00");
  assert.equal(left(null, 1_000, 3_600_000), true);
  assert.equal(left(end, 45_000, 3_600_000), false, "it spoke last 15 s after it left");
  assert.equal(left(end, 30_000, 3_600_000), false);
  assert.equal(left(end, 29_999, 3_600_000), true, "it speaks 30 s after it was to leave");
  assert.equal(left(end, 45_000, 45_000), true, "it has registered anew");
  assert.equal(left(end, 60_000, 60_000), false, "it registered at that moment");
});

test("an agent has begun since a moment where it registered after it", () => {
  const machine = session(0, 1_000);
  assert.equal(hasBegunSince({ machine }, NOW - 1_001), true);
  assert.equal(hasBegunSince({ machine }, NOW - 1_000), false);
  assert.equal(hasBegunSince({ machine: undefined }, 0), false);
  assert.equal(hasBegunSince({ machine: {} as never }, 0), false);
});
