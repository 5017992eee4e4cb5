import assert from "node:assert/strict";
import { test } from "node:test";
import { carryOut } from "./order-stage.ts";
import { at, factsOf, NOW } from "./testing.ts";

const MINUTE = 60_000;

function next(machine: object | undefined, operation: object = {}, more: Parameters<typeof factsOf>[1] = {}) {
  const facts = factsOf("inspecting", { machine: machine as never, ...more });
  return carryOut(facts, { attempt: 1, startedAt: at("11:00:00"), id: "o-1", ...operation }, "inspect");
}
const given = (more: object) => ({ order: { is: { id: "o-1", order: "inspect" }, givenAt: NOW, ...more } });

test("an order is announced with its id and its end before it is given, with a new id where there is none", () => {
  const step = next({});
  assert.ok("do" in step && step.do === "order");
  assert.deepEqual([step.name, step.id, step.announce.operation?.id], ["inspect", "o-1", "o-1"]);
  assert.deepEqual(
    [step.announce.waitingFor, step.announce.deadline],
    ['the agent to end "inspect"', at("13:00:00.000")],
  );
  const fresh = next({}, { id: undefined });
  assert.equal("do" in fresh && fresh.do === "order" && fresh.id, "new");
});

test("an order that a user gave is waited for, and one that has ended is not", () => {
  const other = (result?: object) => ({ order: { is: { id: "u-1", order: "wipe" }, givenAt: NOW, result } });
  const step = next(other());
  assert.match(
    "do" in step && step.do === "wait" ? `${step.forWhat}` : "",
    /the order "wipe" to end, which a user gave/,
  );
  const over = next(other({ ok: true, message: "" }));
  assert.equal("do" in over && over.do, "order");
});

test("what a machine that nobody approved may not be told waits, and says why; a look at it may", () => {
  const standing = { trust: "discovered", because: "nobody approved it" } as never;
  const wipe = carryOut(
    factsOf("preparing", { machine: {} as never, standing }),
    { attempt: 1, startedAt: at("11:00:00") },
    "wipe",
  );
  assert.match(
    "do" in wipe && wipe.do === "wait" ? `${wipe.forWhat}` : "",
    /approved: nobody approved it; the annotation slipway\.dev\/approved/,
  );
  const look = next({}, {}, { standing });
  assert.equal("do" in look && look.do, "order");
});

test("an order under way is waited for an hour from when it was taken, with its phase; then it has failed", () => {
  const wait = next(given({ takenAt: NOW - 59 * MINUTE, progress: { phase: "reading" } }));
  assert.ok("do" in wait && wait.do === "wait");
  assert.deepEqual(
    [wait.forWhat, wait.recheckMs, wait.deadline],
    ['the agent to end "inspect" (reading)', MINUTE, NOW + MINUTE],
  );
  const early = next(given({}));
  assert.deepEqual("do" in early && early.do === "wait" && [early.forWhat, early.recheckMs], [
    'the agent to end "inspect"',
    90_000,
  ]);
  const late = next(given({ givenAt: NOW - 60 * MINUTE }));
  assert.equal(
    "do" in late && late.do === "write" && late.event?.message,
    'the agent has not ended "inspect" in 60 minutes',
  );
});

test("of an agent that tells phase after phase one is told every five seconds, and the first at once", () => {
  const told = (waitingFor: string, waitingSince: string) => {
    const step = next(given({ progress: { phase: "new" } }), {}, { status: { waitingFor, waitingSince } });
    return "do" in step && step.do === "wait" && [step.forWhat, step.recheckMs];
  };
  const [before, then] = ['the agent to end "inspect"', 'the agent to end "inspect" (new)'];
  assert.deepEqual(told(before, at("12:00:00")), [then, 90_000]);
  assert.deepEqual(told(`${before} (old)`, at("11:59:56")), [`${before} (old)`, 1_000]);
  assert.deepEqual(told(`${before} (old)`, at("11:59:55")), [then, 90_000]);
  assert.deepEqual(told(then, at("11:59:59")), [then, 90_000]);
});

test("a result ends it; an order that another process gave is given again, under the same id", () => {
  const result = { ok: false, message: "no" };
  assert.deepEqual(next(given({ result })), { result });
  const again = next(given({}), {}, { isOffered: () => false });
  assert.equal("do" in again && again.do === "order" && again.id, "o-1");
});
