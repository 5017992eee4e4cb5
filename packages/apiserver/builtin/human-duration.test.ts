import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { humanDuration } from "./human-duration.ts";

const [S, M, H, D] = [1000, 60_000, 3_600_000, 86_400_000];

const CASES: [ms: number, text: string][] = [
  [-2 * S, "<invalid>"],
  [-1 * S, "0s"],
  [0, "0s"],
  [119 * S + 999, "119s"],
  [2 * M, "2m"],
  [2 * M + 5 * S, "2m5s"],
  [9 * M + 59 * S, "9m59s"],
  [10 * M + 30 * S, "10m"],
  [179 * M, "179m"],
  [3 * H, "3h"],
  [3 * H + 1 * M, "3h1m"],
  [8 * H + 59 * M, "8h"],
  [47 * H, "47h"],
  [2 * D, "2d"],
  [2 * D + 3 * H, "2d3h"],
  [8 * D + 5 * H, "8d"],
  [729 * D, "729d"],
  [730 * D, "2y"],
  [731 * D, "2y1d"],
  [8 * 365 * D + 3 * D, "8y"],
];

for (const [ms, text] of CASES)
  test(`an age of ${ms} ms is printed as ${text}`, () => assert.equal(humanDuration(ms), text));

test("every span from two seconds back is printed in one or two units", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1999, max: 2 ** 45 }), (ms) =>
      assert.match(humanDuration(ms), /^(\d+[smhdy]){1,2}$/),
    ),
  );
});
