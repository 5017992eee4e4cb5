import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { deadline } from "./clock.ts";
import { offLoop } from "./off-loop.ts";
import { VirtualClock } from "./virtual-clock.ts";

const HOUR = 3_600_000;

test("timers fire by time, and by the order they were set within an instant", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(20)), async (delays) => {
      const clock = new VirtualClock(0);
      const fired: { at: number; i: number }[] = [];
      for (const [i, ms] of delays.entries()) clock.after(ms, () => fired.push({ at: clock.now(), i }));

      await clock.run(20);

      const expected = delays.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at || a.i - b.i);
      assert.deepEqual(fired, expected);
      assert.equal(clock.pending, 0);
    }),
    { numRuns: 30 },
  );
});

test("a cancelled timer never fires and is not counted", async () => {
  const clock = new VirtualClock(0);
  const timer = clock.after(5, () => assert.fail("it was cancelled"));
  assert.equal(clock.pending, 1);

  timer.cancel();

  assert.equal(clock.pending, 0);
  assert.equal(await clock.run(10), false);
  assert.equal(clock.now(), 10);
});

test("hours pass at once, and time stops where the run was asked to end", async () => {
  const clock = new VirtualClock(0);
  const woken: number[] = [];
  const work = (async () => {
    for (let i = 0; i < 3; i++) {
      await clock.sleep(HOUR);
      woken.push(clock.now());
    }
  })();

  await clock.run(2.5 * HOUR);
  assert.deepEqual([woken, clock.now()], [[HOUR, 2 * HOUR], 2.5 * HOUR]);
  await clock.run(HOUR);
  await work;
  assert.deepEqual(woken, [HOUR, 2 * HOUR, 3 * HOUR]);
});

test("a run ends as soon as its condition holds", async () => {
  const clock = new VirtualClock(0);
  let done = false;
  clock.after(7, () => {
    done = true;
  });
  clock.after(9, () => assert.fail("nobody waits for this one"));

  assert.equal(await clock.run(100, () => done), true);
  assert.equal(clock.now(), 7);
});

test("a sleep that is aborted rejects with the reason and leaves no timer", async () => {
  const clock = new VirtualClock(0);
  const stop = new AbortController();
  const sleep = clock.sleep(HOUR, stop.signal);

  stop.abort(new Error("enough"));

  await assert.rejects(sleep, /enough/);
  await assert.rejects(clock.sleep(1, stop.signal), /enough/);
  assert.equal(clock.pending, 0);
});

test("a deadline aborts with a TimeoutError at its time, with the parent's reason before, and never after it was done", async () => {
  const clock = new VirtualClock(0);
  const parent = new AbortController();
  const [late, child, done] = [deadline(clock, 5), deadline(clock, 5, parent.signal), deadline(clock, 5)];
  done.done();
  parent.abort(new Error("parent"));

  await clock.run(5);

  assert.equal(late.signal.reason.name, "TimeoutError");
  assert.equal(child.signal.reason.message, "parent");
  assert.equal(done.signal.aborted, false);
});

test("time stands still while work is outside, until the world has settled after its return", async () => {
  let outside: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>();
  const clock = new VirtualClock(0, () => outside?.promise);
  const fired: string[] = [];
  clock.after(1, () => fired.push("timer"));
  const run = clock.run(1);
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  assert.deepEqual([fired, clock.now()], [[], 0]);
  const came = outside;
  outside = undefined;
  void came.promise.then(() => fired.push("answer"));
  came.resolve();
  await run;
  assert.deepEqual(fired, ["answer", "timer"]);
});

test("time stands still while something works outside of the event loop, until that has ended, well or not", async () => {
  const clock = new VirtualClock(0);
  const fired: string[] = [];
  clock.after(1, () => fired.push("timer"));
  const [key, signature] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  void offLoop(key.promise).then((made) => fired.push(made));
  offLoop(signature.promise).catch(({ message }: Error) => fired.push(message));
  const run = clock.run(1);
  for (const end of [() => key.resolve("key"), () => signature.reject(new Error("no signature"))]) {
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    assert.equal(clock.now(), 0);
    end();
  }
  await run;
  assert.deepEqual(fired, ["key", "no signature", "timer"]);
});
