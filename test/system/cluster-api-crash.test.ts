import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { coreUnderFaults, lifeOfCore } from "./cluster-api-life.ts";
import { runSeeds } from "./fault-seed.ts";

const { TURN = "0", SEEDS } = process.env;
/** A life takes three seconds of a processor: a turn dies at every hundredth effect, `make test-all`, which sets SEEDS, at every fourth. */
const EVERY = SEEDS === undefined ? 100 : 4;
/** A turn plays four of 300; `make sim` plays them all. */
const PART = 4;

test("A4 the operator may die before or after any effect of a cluster's life under the light core: no Machine too many, nothing is left", async (t) => {
  const { effects, made } = await lifeOfCore();
  assert.ok(effects > 60, `${effects} effects`);
  for (const when of ["before", "after"] as const)
    for (const atEffect of sampled(numbers(1, effects).filter((effect) => effect % EVERY === Number(TURN) % EVERY)))
      await t.test(`${when} effect ${atEffect} of ${effects}`, async () => {
        assert.equal((await lifeOfCore({ atEffect, when })).made, made, "hosts that were made");
      });
});

test("A4 clusters converge under the light core under faults, whatever the seed; no host is kept, nothing is left", async () => {
  await runSeeds(1 + (Number(TURN) % 75) * PART, PART, { life: coreUnderFaults });
});
