/** Two replicas of the operator (H26) on own hosts: who wakes up with a claim in its hand takes no second host. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HARVESTER } from "../../src/systems/harvester/names.ts";
import { numbers, sampled } from "./api.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { MINUTE, type RunningOperator, SECOND } from "./world.ts";

const leads = ({ manager }: RunningOperator): boolean => manager.leading(HARVESTER);

/** The leader falls asleep with its n-th write in its hand, and wakes 10 s after the other has begun to lead. */
async function sleepAt(effect: number): Promise<void> {
  const world = await HarvesterWorld.create({ seed: 26, provider: "inventory", servers: { sg: 4, ny: 0 } });
  try {
    const [a, b] = [await world.operator({ election: true }), await world.operator({ election: true })];
    await world.until("one leads", () => leads(a) !== leads(b), MINUTE, SECOND);
    const [leader, other] = leads(a) ? [a, b] : [b, a];
    leader.mortal.sleepsAtEffect = leader.mortal.effects + effect;
    await world.pool("rack", { count: 2 });
    await world.until("it sleeps", () => !leader.mortal.awake, 30 * MINUTE);
    await world.until("the other leads", () => leads(other), 5 * MINUTE, SECOND / 2);
    await world.clock.run(10 * SECOND);
    leader.mortal.resume();
    await world.until("two machines have joined", async () => {
      await assertInvariants(world);
      await world.own.check();
      return (await world.instances()).length === 2 && (await world.converged());
    });
    await assertConverged(world, 2);
    assert.equal(world.cloud.bought(), 2, "nobody has two hosts");
  } finally {
    await world.close();
  }
}

test("H26 a leader that falls asleep with a write in its hand, and wakes when another leads, takes no host twice", async (t) => {
  for (const effect of ofTurn(sampled(numbers(1, 30)), process.env))
    await t.test(`at effect ${effect}`, async () => {
      await sleepAt(effect);
    });
});
