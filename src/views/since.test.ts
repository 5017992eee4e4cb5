import assert from "node:assert/strict";
import { test } from "node:test";
import { since } from "./since.ts";

test("a time span is in its two largest units, without those that are none", () => {
  const [s, m, h, d] = [1_000, 60_000, 3_600_000, 86_400_000];
  const spans: [number, string][] = [
    [0, "0s"],
    [999, "0s"],
    [s, "1s"],
    [59 * s, "59s"],
    [m, "1m"],
    [m + s, "1m1s"],
    [h, "1h"],
    [h + m + s, "1h1m"],
    [h + s, "1h"],
    [23 * h + 59 * m, "23h59m"],
    [d, "1d"],
    [d + h, "1d1h"],
    [400 * d, "400d"],
    [-5 * s, "0s"],
  ];
  for (const [ms, shown] of spans) assert.equal(since(ms), shown);
});
