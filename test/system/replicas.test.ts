/** Two replicas of the operator on one cluster (H26): one acts, the other is ready to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LEASE_TIMES } from "@slipway/kube";
import { Lease } from "@slipway/kube/core";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { HARVESTER } from "../../src/systems/harvester/names.ts";
import { numbers, sampled } from "./api.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { MINUTE, type RunningOperator, SECOND } from "./world.ts";

const LEASE = { namespace: "harvester-system", name: `slipway-${HARVESTER}` };

interface Pair {
  world: HarvesterWorld;
  leader: RunningOperator;
  other: RunningOperator;
}

/** A world with two replicas, one of which leads. */
async function pair(work: (pair: Pair) => Promise<void>): Promise<void> {
  const world = await HarvesterWorld.create({ seed: 26 });
  try {
    const [a, b] = [await world.operator({ election: true }), await world.operator({ election: true })];
    await world.until("one leads", () => leads(a) !== leads(b), MINUTE, SECOND);
    await work(leads(a) ? { world, leader: a, other: b } : { world, leader: b, other: a });
  } finally {
    await world.close();
  }
}

const leads = ({ manager }: RunningOperator): boolean => manager.leading(HARVESTER);

const scale = (world: HarvesterWorld, count: number): Promise<unknown> =>
  world.whileTimePasses(
    world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count } } }),
  );

/** Until the other leads; how long it took. */
async function takenOver({ world, other }: Pair): Promise<number> {
  const began = world.clock.now();
  await world.until("the other leads", () => leads(other), 5 * MINUTE, SECOND / 2);
  return world.clock.now() - began;
}

async function ready(world: HarvesterWorld, count: number): Promise<void> {
  await world.until(`${count} machines have joined`, async () => {
    await assertInvariants(world);
    return (await world.instances()).length === count && (await world.converged());
  });
  await assertConverged(world, count);
  assert.equal(world.equinix.boughtEver().length, count, "no machine is bought twice");
}

test("H26 of two replicas only the leader acts", () =>
  pair(async ({ world, leader, other }) => {
    await world.pool("rack", { count: 3 });
    await ready(world, 3);
    assert.ok(leader.mortal.cloudCalls > 0);
    assert.equal(other.mortal.cloudCalls, 0);
  }));

test("H26 a killed leader's work is taken over within the lease's duration and 5 s, wherever it stood", async () => {
  for (const seconds of sampled([0, 20, 400])) {
    await pair(async (of) => {
      const { world, leader } = of;
      await world.pool("rack", { count: 2 });
      await world.clock.run(seconds * SECOND);
      leader.mortal.kill();
      const took = await takenOver(of);
      assert.ok(took <= LEASE_TIMES.leaseMs + 5 * SECOND, `killed after ${seconds} s, taken over after ${took} ms`);
      await ready(world, 2);
      await scale(world, 3);
      await ready(world, 3);
    });
  }
});

test("H26 a leader that is asked to stop hands over at once", () =>
  pair(async (of) => {
    const { world, leader } = of;
    await world.pool("rack", { count: 1 });
    await world.whileTimePasses(leader.manager.stop());
    const { spec } = await world.whileTimePasses(world.client.get(Lease, LEASE));
    assert.equal(spec?.holderIdentity, "");
    assert.ok((await takenOver(of)) <= 5 * SECOND);
    await ready(world, 1);
  }));

test("H26 a leader that only slept, and wakes amid its work, does nothing and buys nothing twice", async () => {
  for (const seconds of sampled([0, 2, 20, 400])) {
    await pair(async (of) => {
      const { world, leader, other } = of;
      await world.pool("rack", { count: 2 });
      await world.clock.run(seconds * SECOND);
      leader.mortal.pause();
      await takenOver(of);
      assert.ok(!leads(leader), "two never lead at once");
      await ready(world, 2);
      leader.mortal.resume();
      await world.clock.run(MINUTE);
      assert.ok(leads(other) && !leads(leader), "who woke up does not take back what another holds");
      await scale(world, 3);
      await ready(world, 3);
      other.mortal.kill();
      await world.until("the one that woke up leads again", () => leads(leader), 5 * MINUTE, SECOND);
      await scale(world, 4);
      await ready(world, 4);
    });
  }
});

test("H26 a leader that falls asleep with a write in its hand, and wakes when another leads, buys nothing twice", async () => {
  for (const effect of sampled(numbers(1, 12))) {
    await pair(async (of) => {
      const { world, leader } = of;
      leader.mortal.sleepsAtEffect = leader.mortal.effects + effect;
      await world.pool("rack", { count: 2 });
      await world.until("it sleeps", () => !leader.mortal.awake, 30 * MINUTE);
      await takenOver(of);
      await world.clock.run(10 * SECOND);
      leader.mortal.resume();
      await ready(world, 2);
    });
  }
});
