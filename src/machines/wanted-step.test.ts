import assert from "node:assert/strict";
import { test } from "node:test";
import type { Claim, Journal, Step } from "./lifecycle.ts";
import { aMachine } from "./testing.ts";
import { type WantedClaim, waitOf, wantedStep } from "./wanted-step.ts";

const NOW = Date.UTC(2026, 0, 1);
const CLAIM: Claim = {
  ...{ id: "u-1", placements: [{ plan: "p", metro: undefined }], network: undefined, passes: 1 },
  ...{ provisionTimeoutMs: 60_000, joinTimeoutMs: 60_000, pollMs: 15_000 },
  lastStage: { awaited: "its Node", missed: "no Node" },
};
const GATE = { reason: "WaitingForMachine", what: "a Machine to own it" };
const journal = (more: Partial<Journal> = {}): Journal => ({
  ...{ machineId: undefined, purchase: undefined, boot: undefined, signals: {} },
  ...{ runningSince: undefined, joined: false, networkSet: true },
  ...more,
});
const order = (state: "Pending" | "Refused", age: number) => ({ attempt: 1, at: NOW - age, state, placement: 0 });
const step = (of: Partial<WantedClaim> = {}, failure?: string): Step =>
  wantedStep({ claim: CLAIM, journal: journal(), sight: undefined, gate: undefined, now: NOW, ...of }, failure);

test("B35 nothing is ordered behind a gate, and an order without an answer is looked for all the same", () => {
  const gated = { do: "wait", for: GATE.what, recheckMs: 60_000 };
  assert.equal(step().do, "order");
  assert.deepEqual(step({ gate: GATE }), gated);
  const pending = (age: number, gate?: typeof GATE) =>
    step({ gate, journal: journal({ purchase: order("Pending", age) }) });
  assert.equal(pending(0, GATE).do, "wait");
  assert.notDeepEqual(pending(0, GATE), gated);
  assert.equal(pending(5_000, GATE).do, "look");
  assert.equal(pending(3_600_000).do, "order");
  assert.deepEqual(pending(3_600_000, GATE), gated);
  assert.deepEqual(step({ gate: GATE, journal: journal({ purchase: order("Refused", 3_600_000) }) }), gated);
});

test("a machine that exists goes on whatever became of the gate; one that its provider does not know is given up", () => {
  const building = aMachine({ phase: "building" });
  assert.deepEqual(step({ sight: building, gate: GATE }), step({ sight: building }));
  const gone = step({ sight: "gone" });
  assert.deepEqual([gone.do, gone.do === "giveUp" && gone.reason], ["giveUp", "MachineGone"]);
});

test("a failure that is written down ends all steps, and is looked at at half the pace", () => {
  for (const sight of [undefined, "gone", aMachine()] as const)
    assert.deepEqual(step({ sight }, "MachineFailed"), {
      ...{ do: "wait", for: "its Machine to be replaced", recheckMs: 30_000 },
    });
});

const wait = (more: object = {}): Step => ({ do: "wait", for: "a host", recheckMs: 1, ...more });
const since = "2025-12-31T00:00:00Z";

test("what is waited for is shown with its beginning and its deadline, where it has one", () => {
  const shown = waitOf({ waitingFor: "a host", waitingSince: since }, wait({ deadline: NOW + 1_000 }), journal(), NOW);
  assert.deepEqual(shown, { waitingFor: "a host", waitingSince: since, deadline: "2026-01-01T00:00:01.000Z" });
  const other = waitOf(
    { waitingFor: "else", waitingSince: since },
    wait({ deadline: Number.POSITIVE_INFINITY }),
    journal(),
    NOW,
  );
  assert.deepEqual([other.waitingSince === since, other.deadline], [false, undefined]);
  assert.equal(waitOf({}, wait(), journal(), NOW).deadline, undefined);
});

test("who waits for nothing, works, or is in service shows no wait", () => {
  const none = { waitingFor: undefined, waitingSince: undefined, deadline: undefined };
  const held = { waitingFor: "a host", waitingSince: since };
  assert.deepEqual(waitOf(held, wait({ for: "nothing" }), journal(), NOW), none);
  assert.deepEqual(waitOf(held, { do: "look" }, journal(), NOW), none);
  assert.deepEqual(waitOf(held, wait(), journal({ joined: true }), NOW), none);
});

test("what is stalled keeps saying by what, until it is given up", () => {
  const conditions = [
    { type: "Stalled", status: "True" as const, reason: "R", message: "M", lastTransitionTime: since },
  ];
  const held = { waitingFor: "M", waitingSince: since, deadline: undefined, conditions };
  const kept = { waitingFor: "M", waitingSince: since, deadline: undefined };
  assert.deepEqual(waitOf(held, wait(), journal(), NOW), kept);
  assert.deepEqual(waitOf(held, { do: "look" }, journal({ joined: true }), NOW), kept);
  const givenUp = waitOf(held, { do: "giveUp", reason: "MachineGone", message: "m" }, journal(), NOW);
  assert.equal(givenUp.waitingFor, undefined);
  assert.equal(waitOf({ conditions }, wait(), journal(), NOW).waitingFor, "a host");
});
