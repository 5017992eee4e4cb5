/** Tenants, and an operator that dies at any effect of their life. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import { type Death, successor } from "./mortal.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { MINUTE, TenantLifeWorld } from "./tenant-life-world.ts";

/** A tenant is made, goes up by two minors, sleeps, wakes, moves to another DataStore and goes. Resolves with the effects of the process that was to die. */
async function life(death?: Death): Promise<number> {
  const world = await TenantLifeWorld.create();
  try {
    await world.dataStore("default");
    await world.dataStore("other");
    const mortal = await world.operator(death);
    const replaceDead = successor(mortal, () => world.restart());
    const until = async (what: string, holds: () => Promise<boolean>): Promise<void> =>
      await world.until(
        what,
        async () => {
          await replaceDead();
          await world.check();
          return await holds();
        },
        2 * 60 * MINUTE,
      );
    const isAt = (version: string, state: string) => async () => {
      const [tenant] = await world.tenants();
      const held = tenant?.status?.kubernetesResources?.version;
      return held?.status === state && (state === "Sleeping" || held.version === version);
    };
    await world.apply("a");
    await until("it is ready", isAt("v1.33.0", "Ready"));
    await world.apply("a", { version: "v1.35.1" });
    await until("it went up", isAt("v1.35.1", "Ready"));
    await world.apply("a", { version: "v1.35.1", replicas: 0 });
    await until("it sleeps", isAt("", "Sleeping"));
    await world.apply("a", { version: "v1.35.1" });
    await until("it woke", isAt("v1.35.1", "Ready"));
    await world.apply("a", { version: "v1.35.1", dataStore: "other" });
    await until("it moved", async () => {
      const [tenant] = await world.tenants();
      const isThere = tenant?.status?.storage?.dataStoreName === "other" && (await isAt("v1.35.1", "Ready")());
      return isThere && tenant.metadata.annotations?.["slipway.dev/migration"] === undefined;
    });
    await world.delete("a");
    await until("it is gone", async () => (await world.tenants()).length === 0);
    await world.clock.run(MINUTE);
    await world.checkNothingLeft();
    return mortal.effects;
  } finally {
    await world.close();
  }
}

test("B27 the operator may die before or after any effect of a tenant's life: it goes on, and nothing is left in the end", async (t) => {
  const effects = await life();
  assert.ok(effects > 25, `${effects} effects`);
  for (const when of ["before", "after"] as const)
    for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env))
      await t.test(`${when} effect ${atEffect} of ${effects}`, async () => {
        await life({ atEffect, when });
      });
});
