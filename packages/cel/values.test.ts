import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseDuration, parseNamedDuration } from "./duration.ts";
import { parseQuantity } from "./library/quantity.ts";
import { escapeField, isReachable } from "./names.ts";

test("durations are Go's", () => {
  const cases: [string, bigint | undefined][] = [
    ["1h30m", 5_400_000_000_000n],
    ["-1.5s", -1_500_000_000n],
    ["300ms", 300_000_000n],
    [".5h", 1_800_000_000_000n],
    ["1us2ns", 1_002n],
    ["0", 0n],
    ["", undefined],
    ["5", undefined],
    ["1h 2m", undefined],
    ["1d", undefined],
    ["-9223372036854775808ns", -(2n ** 63n)],
    ["9223372036854775808ns", undefined],
    ["99999999h", undefined],
    [`${"0".repeat(99)}1ns`, 1n],
  ];
  for (const [text, nanos] of cases) assert.equal(parseDuration(text), nanos, text);
});

test("a duration of the format may have units by name", () => {
  const second = 1_000_000_000n;
  const cases: [string, bigint | undefined][] = [
    ["1h30m", 5400n * second],
    ["3 weeks, 2 days", 23n * 86_400n * second],
    ["1 Hour and 5 minutes", 3900n * second],
    ["7 milliseconds", 7_000_000n],
    ["3 µs", 3_000n],
    ["1 h 1 hr 2 D", 180_000n * second],
    ["1 wk", 604_800n * second],
    ["2 min 3 sec 4 us 5 ns 6 micros 7 nanos", 123n * second + 10_012n],
    ["3 fortnights", undefined],
    ["week", undefined],
  ];
  for (const [text, nanos] of cases) assert.equal(parseNamedDuration(text), nanos, text);
});

test("a duration written in nanoseconds is read back", () => {
  fc.assert(fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n }), (n) => assert.equal(parseDuration(`-${n}ns`), -n)));
});

test("quantities have decimal and binary units", () => {
  const billion = 1_000_000_000n;
  const cases: [string, bigint | undefined][] = [
    ["1", billion],
    ["1.5Gi", 1_610_612_736n * billion],
    ["100m", billion / 10n],
    ["2e3", 2_000n * billion],
    ["1E", 10n ** 18n * billion],
    ["-0.5k", -500n * billion],
    [".5", billion / 2n],
    ["1x", undefined],
    ["1 Gi", undefined],
    ["", undefined],
    // As upstream, which reads no digits as 0.
    [".", 0n],
    ["-", 0n],
    ["m", 0n],
    ["1e30", 10n ** 30n * billion],
    ["16Ei", (2n ** 63n - 1n) * billion],
    ["1e9999", undefined],
  ];
  for (const [text, nanos] of cases) assert.equal(parseQuantity(text), nanos, text);
});

test("any text is a quantity or not, and never an exception", () => {
  const text = fc.string({ unit: fc.constantFrom(..."0123456789.+-eEkKMGiTmnu ") });
  fc.assert(fc.property(text, (value) => assert.match(typeof parseQuantity(value), /^(bigint|undefined)$/)));
});

test("field names that CEL can't spell are escaped, and no two to the same name", () => {
  assert.equal(escapeField("a.b-c/d__e"), "a__dot__b__dash__c__slash__d__underscores__e");
  assert.equal(escapeField("namespace"), "__namespace__");
  assert.equal(escapeField("int"), "int");
  assert.equal(isReachable("1st"), false);
  const name = fc.string({ unit: fc.constantFrom(..."ab._-/") });
  fc.assert(fc.property(name, name, (a, b) => assert.equal(escapeField(a) === escapeField(b), a === b)));
});
