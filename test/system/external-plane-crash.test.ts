import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { lifeOfExternalPlane } from "./external-plane-life.ts";
import { ofTurn } from "./seeds-of-turn.ts";

test("A4 B5 either operator may die before or after any effect of a control plane whose tenant is in another cluster: it goes on, and nothing is left in either", async (t) => {
  const effects = await lifeOfExternalPlane();
  assert.ok(effects.management > 20 && effects.tenants > 40, JSON.stringify(effects));
  for (const operator of ["management", "tenants"] as const)
    for (const when of ["before", "after"] as const)
      for (const atEffect of ofTurn(sampled(numbers(1, effects[operator])), process.env))
        await t.test(`the one of ${operator}, ${when} effect ${atEffect} of ${effects[operator]}`, async () => {
          await lifeOfExternalPlane({ of: operator, atEffect, when });
        });
});
