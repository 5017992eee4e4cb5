import assert from "node:assert/strict";
import { test } from "node:test";
import { askedToWait } from "./rate-limit.ts";

const NOW = Date.UTC(2026, 0, 1);

test("how long an API wants to be left alone: Retry-After, else the reset of a budget that is used up", () => {
  const asked = (status: number, headers: Record<string, string>) => askedToWait({ status, headers, body: "" }, NOW);
  const reset = (seconds: number, remaining = "0") => ({
    "x-ratelimit-remaining": remaining,
    "x-ratelimit-reset": String(NOW / 1000 + seconds),
  });
  assert.equal(asked(200, {}), undefined);
  assert.equal(asked(200, { "retry-after": "7" }), 7_000);
  assert.equal(asked(503, { "retry-after": new Date(NOW + 9_000).toUTCString() }), 9_000);
  assert.equal(asked(200, reset(5)), 5_000);
  assert.equal(asked(200, reset(-5)), 0);
  assert.equal(asked(200, reset(5, "1")), undefined);
  assert.equal(asked(200, { ...reset(5), date: new Date(NOW + 2_000).toUTCString() }), 3_000);
  assert.equal(asked(429, reset(5, "1")), 5_000);
  assert.equal(asked(429, { "retry-after": "0" }), 1_000);
  assert.equal(asked(429, {}), 5_000);
});
