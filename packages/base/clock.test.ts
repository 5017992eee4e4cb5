import assert from "node:assert/strict";
import { mock, test } from "node:test";
import fc from "fast-check";
import { rfc3339, rfc3339Micro, steadyClock, systemClock } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("times are written in UTC: whole seconds, or six digits of one", () => {
  const ms = Date.UTC(2026, 6, 1, 12, 30, 5) + 678;

  assert.equal(rfc3339(ms), "2026-07-01T12:30:05Z");
  assert.equal(rfc3339Micro(ms), "2026-07-01T12:30:05.678000Z");
});

test("a delay longer than the platform's longest timer fires at its time and can be cancelled in between", () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const fired: string[] = [];
    const MAX = 2 ** 31 - 1;
    systemClock.after(MAX + 10, () => fired.push("kept"));
    const dropped = systemClock.after(MAX + 10, () => fired.push("dropped"));

    mock.timers.tick(MAX);
    dropped.cancel();
    mock.timers.tick(9);
    assert.deepEqual(fired, []);
    mock.timers.tick(1);
    assert.deepEqual(fired, ["kept"]);
  } finally {
    mock.timers.reset();
  }
});

test("an aborted sleep of the system's clock ends at once", async () => {
  const stop = new AbortController();
  const sleep = systemClock.sleep(3_600_000, stop.signal);

  stop.abort(new Error("enough"));

  await assert.rejects(sleep, /enough/);
});

test("a steady clock gives way to a step by a tenth, never goes back, and agrees in the end", () => {
  const steps = fc.integer({ min: -3_600_000, max: 3_600_000 });
  fc.assert(
    fc.property(steps, fc.array(fc.nat(600_000), { minLength: 1, maxLength: 30 }), (step, waits) => {
      let [wall, passed] = [1_800_000_000_000, 5];
      const clock = steadyClock({ ...systemClock, now: () => wall, monotonic: () => passed });
      const pass = (ms: number): void => {
        wall += ms;
        passed += ms;
      };
      wall += step;
      let before = clock.now();
      for (const ms of waits) {
        pass(ms);
        const now = clock.now();
        assert.ok(now - before >= 0.9 * ms - 1 && now - before <= 1.1 * ms + 1, `${now - before} in ${ms} ms`);
        before = now;
      }
      pass(10 * Math.abs(step));
      assert.equal(clock.now(), wall);
    }),
  );
});

test("a steady clock follows at once when the machine learns the date", () => {
  let wall = 0;
  const clock = steadyClock({ ...systemClock, now: () => wall, monotonic: () => 7 });
  wall = 1_800_000_000_000;
  assert.equal(clock.now(), wall);
  for (const day of [86_400_000, -86_400_000]) {
    wall += day;
    assert.equal(clock.now(), wall);
  }
});

test("time that is measured is not the clock's that somebody sets", async () => {
  const clock = new VirtualClock();
  const [wall, began] = [clock.now(), clock.monotonic()];
  const fired: number[] = [];
  clock.after(60_000, () => fired.push(clock.monotonic() - began));
  clock.step(-3_600_000);
  await clock.run(120_000);
  assert.deepEqual(fired, [60_000]);
  assert.equal(clock.now() - wall, 120_000 - 3_600_000);
});
