import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import fc from "fast-check";
import { backOffMs } from "./back-off.ts";
import { type Priority, WorkQueue } from "./queue.ts";

const make = (clock = new VirtualClock()): WorkQueue => new WorkQueue({ clock, random: seededRandom(1) });

test("a key stands in the queue once, however often it is added", () => {
  const queue = make();
  for (let i = 0; i < 5; i++) queue.add("a");
  assert.equal(queue.length, 1);
  assert.equal(queue.take(), "a");
  assert.equal(queue.take(), undefined);
});

test("a key added while it is worked on comes back after done, once", () => {
  const queue = make();
  queue.add("a");
  queue.take();
  queue.add("a");
  queue.add("a");
  assert.equal(queue.take(), undefined);
  queue.done("a");
  assert.equal(queue.take(), "a");
  queue.done("a");
  assert.equal(queue.take(), undefined);
});

test("user changes go before repeated tries, those before the initial list", () => {
  const queue = make();
  queue.add("listed", "resync");
  queue.add("tried", "again");
  queue.add("changed", "change");
  assert.deepEqual([queue.take(), queue.take(), queue.take()], ["changed", "tried", "listed"]);
});

test("a key of the initial list that the user changes moves to the front", () => {
  const queue = make();
  queue.add("a", "resync");
  queue.add("b", "resync");
  queue.add("b", "change");
  assert.equal(queue.take(), "b");
});

test("what can wait is taken at last even if changes never end", () => {
  const queue = make();
  for (let i = 0; i < 9; i++) queue.add(`listed-${i}`, "resync");
  queue.add("patient", "again");
  const taken: (string | undefined)[] = [];
  for (let i = 0; i < 32; i++) {
    queue.add(`change-${i}`);
    queue.add(`more-${i}`);
    taken.push(queue.take());
  }
  assert.ok(taken.includes("patient") && taken.includes("listed-0"));
});

test("a delayed key comes when it is due, the earliest delay counts", async () => {
  const clock = new VirtualClock();
  const queue = make(clock);
  queue.addAfter("a", 60_000);
  queue.addAfter("a", 10_000);
  queue.addAfter("a", 30_000);
  await clock.run(9_999);
  assert.equal(queue.take(), undefined);
  await clock.run(1);
  assert.equal(queue.take(), "a");
  queue.done("a");
  await clock.run(120_000);
  assert.equal(queue.take(), undefined);
  assert.equal(clock.pending, 0);
});

test("retries double from 5 ms to 5 minutes, forget starts over", () => {
  const queue = make();
  const delays = Array.from({ length: 20 }, () => queue.retry("a"));
  assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(delays.at(-1), 300_000);
  queue.forget("a");
  assert.equal(queue.retry("a"), 5);
  assert.equal(queue.retry("b", 7_000), 7_000);
});

test("back-off stays between its jitter's bounds", () => {
  const backOff = { baseMs: 5, maxMs: 300_000, jitter: 0.3 };
  fc.assert(
    fc.property(fc.nat(2000), fc.nat(), (failures, seed) => {
      const full = Math.min(300_000, 5 * 2 ** Math.min(failures, 40));
      const ms = backOffMs(backOff, failures, seededRandom(seed));
      assert.ok(ms <= full && ms >= full * 0.7);
    }),
  );
});

test("the queue counts what is ready at every priority, what is worked on and what waits for its time", async () => {
  const clock = new VirtualClock();
  const queue = make(clock);
  const counts = (): number[] => [queue.length, queue.active, queue.delayed];
  queue.add("a", "change");
  queue.add("b", "again");
  queue.add("c", "resync");
  queue.addAfter("d", 1_000);
  queue.addAfter("e", 2_000);
  assert.deepEqual(counts(), [3, 0, 2]);
  queue.take();
  queue.take();
  assert.deepEqual(counts(), [1, 2, 2]);
  queue.add("e");
  await clock.run(1_000);
  assert.deepEqual(counts(), [3, 2, 0]);
  queue.done("a");
  assert.deepEqual(counts(), [3, 1, 0]);
  queue.close();
  assert.deepEqual(counts(), [0, 1, 0]);
});

test("whoever measures the queue learns of each addition, wait, end of work and retry", async () => {
  const clock = new VirtualClock();
  const reported: string[] = [];
  const hooks = {
    added: (priority: Priority) => void reported.push(`added ${priority}`),
    taken: (waitedMs: number) => void reported.push(`taken ${waitedMs}`),
    finished: (workedMs: number) => void reported.push(`finished ${workedMs}`),
    retried: () => void reported.push("retried"),
  };
  const queue = new WorkQueue({ clock, random: seededRandom(1), hooks });
  const next = (): string[] => reported.splice(0);
  queue.add("a", "resync");
  await clock.run(30);
  queue.add("a", "change");
  await clock.run(10);
  queue.take();
  assert.deepEqual(next(), ["added resync", "added change", "taken 40"]);
  await clock.run(7);
  queue.retry("a");
  queue.done("a");
  assert.deepEqual(next(), ["retried", "finished 7"]);
  await clock.run(5);
  queue.take();
  assert.deepEqual(next(), ["added again", "taken 0"]);
});

test("done for a key that nobody holds is refused by name", () => {
  assert.throws(() => make().done("a"), /queue: a is not being worked on/);
});

test("a closed queue gives nothing, takes nothing and has no timer", () => {
  const clock = new VirtualClock();
  const queue = make(clock);
  queue.add("a");
  queue.addAfter("b", 1000);
  queue.close();
  queue.add("c");
  queue.addAfter("d", 5);
  assert.equal(queue.take(), undefined);
  assert.equal(clock.pending, 0);
});

type Action =
  | { do: "add"; key: string; priority: Priority }
  | { do: "after"; key: string; ms: number }
  | { do: "retry"; key: string }
  | { do: "take" }
  | { do: "done"; nth: number }
  | { do: "pass"; ms: number };

const key = fc.constantFrom("a", "b", "c", "d", "e");
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key,
    priority: fc.constantFrom<Priority>("change", "again", "resync"),
  }),
  fc.record({ do: fc.constant("after" as const), key, ms: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ do: fc.constant("retry" as const), key }),
  fc.record({ do: fc.constant("take" as const) }),
  fc.record({ do: fc.constant("done" as const), nth: fc.nat(4) }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 200 }) }),
);

/** Ends the work on one of the keys that are held, if there is any. */
function finish(queue: ReturnType<typeof make>, held: string[], nth: number): void {
  const [done] = held.splice(nth % Math.max(1, held.length), 1);
  if (done !== undefined) queue.done(done);
}

function ask(queue: ReturnType<typeof make>, action: Extract<Action, { key: string }>): string {
  if (action.do === "add") queue.add(action.key, action.priority);
  else if (action.do === "after") queue.addAfter(action.key, action.ms);
  else queue.retry(action.key);
  return action.key;
}

/** False: there was nothing to take. */
function takeOwed(queue: ReturnType<typeof make>, held: string[], owed: Set<string>): boolean {
  const taken = queue.take();
  if (taken === undefined) return false;
  assert.ok(!held.includes(taken), `${taken} is held twice`);
  assert.ok(owed.has(taken), `${taken} was not asked for`);
  held.push(taken);
  owed.delete(taken);
  return true;
}

test("whatever happens, no key is held twice and none that was asked for is lost", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const clock = new VirtualClock();
      const queue = make(clock);
      const held: string[] = [];
      /** Keys that were asked for and not handed out since. */
      const owed = new Set<string>();
      const take = (): boolean => takeOwed(queue, held, owed);
      for (const a of actions) {
        if (a.do === "take") take();
        else if (a.do === "pass") await clock.run(a.ms);
        else if (a.do === "done") finish(queue, held, a.nth);
        else owed.add(ask(queue, a));
      }
      while (held.length > 0) finish(queue, held, 0);
      await clock.run(10 * 60_000);
      while (take());
      assert.deepEqual([...owed], []);
    }),
    { numRuns: 150 },
  );
});
