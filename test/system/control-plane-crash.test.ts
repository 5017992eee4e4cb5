import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { lifeOfPlane, planeUnderFaults } from "./control-plane-life.ts";
import { runSeeds } from "./fault-seed.ts";
import { ofTurn } from "./seeds-of-turn.ts";

const { TURN = "0" } = process.env;
/** A turn plays four of 300; `make sim` plays them all. */
const SEEDS = 4;

test("A4 the operator may die before or after any effect of a control plane's and its worker's life: it goes on, and nothing is left", async (t) => {
  const effects = await lifeOfPlane();
  assert.ok(effects > 40, `${effects} effects`);
  for (const when of ["before", "after"] as const)
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env))
      await t.test(`${when} effect ${atEffect} of ${effects}`, async () => {
        await lifeOfPlane({ atEffect, when });
      });
});

test("A4 control planes and workers converge under faults, whatever the seed; no token, tenant or Secret is left", async () => {
  await runSeeds(1 + (Number(TURN) % 75) * SEEDS, SEEDS, { life: planeUnderFaults });
});
