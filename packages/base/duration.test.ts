import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDuration, parseDuration } from "./duration.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test("durations are read as Go reads them", () => {
  const cases: [string, number][] = [
    ["0", 0],
    ["-0", 0],
    ["5s", 5 * SECOND],
    ["1h30m", HOUR + 30 * MINUTE],
    ["1.5h", 90 * MINUTE],
    [".5s", 500],
    ["1.s", SECOND],
    ["-1m0.25s", -MINUTE - 250],
    ["+3ms", 3],
    ["1us", 0.001],
    ["1\u00b5s", 0.001],
    ["1\u03bcs", 0.001],
    ["30m1h", HOUR + 30 * MINUTE],
    ["2540400h10m10s", 2540400 * HOUR + 10 * MINUTE + 10 * SECOND],
  ];
  for (const [text, ms] of cases) assert.ok(Math.abs(parseDuration(text) - ms) < 1e-9, text);
});

test("what is no duration is refused with the position", () => {
  assert.throws(() => parseDuration(""), /"": a number is missing at position 0/);
  assert.throws(() => parseDuration("-"), /a number is missing at position 1/);
  assert.throws(() => parseDuration("3"), /a unit is missing at position 1/);
  assert.throws(() => parseDuration("1h30"), /a unit is missing at position 4/);
  assert.throws(() => parseDuration("1d"), /unknown unit "d" at position 1/);
  assert.throws(() => parseDuration("1h .s"), /unknown unit "h " at position 1/);
  assert.throws(() => parseDuration(".s"), /a number is missing at position 0/);
  assert.throws(() => parseDuration("1h-30m"), /unknown unit "h-" at position 1/);
  assert.throws(() => parseDuration("1constructor"), /unknown unit "constructor"/);
  assert.throws(() => parseDuration("2562048h"), /more than 292 years at position 7/);
});

test("durations are written as Go writes them", () => {
  const cases: [number, string][] = [
    [0, "0s"],
    [0.000001, "1ns"],
    [0.0011, "1.1\u00b5s"],
    [2.2, "2.2ms"],
    [3300, "3.3s"],
    [HOUR, "1h0m0s"],
    [90 * MINUTE, "1h30m0s"],
    [5 * MINUTE + SECOND, "5m1s"],
    [-20, "-20ms"],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
});

test("a duration of whole milliseconds is read back as it was written", () => {
  const ms = fc.integer({ min: -(2 ** 42), max: 2 ** 42 });
  fc.assert(fc.property(ms, (value) => assert.equal(parseDuration(formatDuration(value)) + 0, value + 0)));
});

test("any text is a duration or refused with a RangeError", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789.-+hmsun\u00b5 ") });
  fc.assert(
    fc.property(text, (value) => {
      try {
        assert.ok(Number.isFinite(parseDuration(value)));
      } catch (error) {
        assert.ok(error instanceof RangeError);
      }
    }),
  );
});
