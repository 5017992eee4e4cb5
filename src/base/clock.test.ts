import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { rfc3339, rfc3339Micro, systemClock } from "./clock.ts";

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
