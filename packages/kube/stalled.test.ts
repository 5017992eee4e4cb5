import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { isStalled, recovered, stalled, stalledBy, waitFor } from "./stalled.ts";

const T0 = Date.UTC(2026, 0, 1);
const fault = new Fault("NoCapacity", "the provider", "sold out");

test("the beginning of a wait moves only when what is waited for does", () => {
  const first = waitFor(undefined, { what: "a", now: T0 });
  const again = waitFor(first, { what: "a", deadline: T0 + 1000, now: T0 + 500 });
  assert.equal(again.waitingSince, first.waitingSince);
  assert.equal(again.deadline, "2026-01-01T00:00:01.000Z");
  assert.notEqual(waitFor(first, { what: "b", now: T0 + 500 }).waitingSince, first.waitingSince);
  assert.equal(waitFor(first, { what: undefined, now: T0 }).waitingFor, undefined);
});

test("a stalled status names the fault until it has recovered", () => {
  const held = stalled(undefined, fault, { now: T0, observedGeneration: 3 });
  assert.equal(isStalled(held), true);
  assert.equal(stalledBy(held), fault.advice);
  assert.equal(held.waitingFor, fault.advice);
  const after = recovered(held, { now: T0, observedGeneration: 3 });
  assert.equal(isStalled(after), false);
  assert.equal(stalledBy(after), undefined);
  assert.equal(after.waitingFor, undefined);
});
