import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL_DOUBLINGS, growthOf } from "@slipway/apiserver/doubling";
import { MAX_GROWTH } from "@slipway/base/testing";

for (const doubling of ALL_DOUBLINGS)
  test(`twice as many cost no more than 2.5 times the work: ${doubling.name}`, async () => {
    const { growth, n, ms } = await growthOf(doubling);
    assert.ok(growth <= MAX_GROWTH, `${2 * n} cost ${growth.toFixed(2)} times as much as ${n}: ${ms.toFixed(0)} ms`);
  });
