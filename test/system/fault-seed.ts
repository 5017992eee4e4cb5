/** One life of a pool under faults drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { seededRandom } from "@slipway/base";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { STAGES } from "../../src/sim/firmware/firmware.ts";
import { numbers, sampled } from "./api.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { assertConverged } from "./invariants.ts";
import { interruptible } from "./mortal.ts";
import { livesTo } from "./pool-life.ts";
import { HOUR } from "./world.ts";

/** Plays the history of one seed. Throws when it does not converge or an invariant is broken. */
export async function lifeUnderFaults(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 1);
  const chance = (p: number): boolean => draw.fraction() < p;
  let apiDown = false;
  let hangs = draw.int(3);
  let broken = draw.int(2);
  const world = await HarvesterWorld.create({
    seed,
    // Every third history is played on the other provider.
    provider: seed % 3 === 0 ? "latitude" : "equinix",
    faults: {
      lostAnswerAfterEffect: 0.04,
      lostBeforeEffect: 0.03,
      throttled: 0.05,
      serverError: 0.04,
      reset: 0.03,
      slow: { rate: 0.2, minMs: 10, maxMs: 8_000 },
    },
    equinix: {
      faults: { staleListsMs: draw.int(30_000), failsToProvision: () => broken-- > 0 && chance(0.5) },
    },
    firmware: { hangs: () => hangs > 0 && chance(0.05 / STAGES.length) && hangs-- > 0 },
    transport: (inner) => interruptible(inner, () => apiDown),
  });
  try {
    if (chance(0.3)) await world.cloud.setCapacity(2);
    await world.operator();
    await world.pool("rack", {
      count: 3,
      metros: ["NY"],
      nodeCleanupWaitInterval: "5m",
      installMode: chance(0.3) ? "TwoPass" : "Auto",
    });
    const wanted = [3, 1 + draw.int(4), draw.int(3)];
    for (const count of wanted) {
      await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count } } });
      await livesTo(world, count, { mischief, mend });
      // A machine may still be on its way out at the provider.
      await world.until("what was released is gone", () => world.cloud.machines().length === count, HOUR);
      await assertConverged(world, count);
    }
  } finally {
    await world.close();
  }

  async function mend(): Promise<void> {
    apiDown = false;
  }

  async function mischief(): Promise<void> {
    apiDown = chance(0.05);
    if (chance(0.03)) {
      world.kill();
      apiDown = false;
      await world.operator();
    }
    const machines = world.cloud.machines().filter((machine) => machine.wanted);
    const victim = machines.length > 0 ? machines[draw.int(machines.length)] : undefined;
    if (victim !== undefined && chance(0.01)) world.cloud.kill(victim.id);
    if (chance(0.02)) await world.cloud.setCapacity(chance(0.5) ? undefined : draw.int(3));
  }
}

/** Seeds between two lines of progress, and how many may fail before the rest is left out. */
const PROGRESS_EVERY = 5;
const MOST_FAILED = 5;

/** The command that plays a seed again. */
export const replayOf = (seed: number, of?: string): string =>
  `make sim ${of === undefined ? "" : `ONLY=${of} `}FROM=${seed} SEEDS=1`;

/**
 * Runs seeds and reports how far it is, and each that fails at once. `of`: the kind of histories, by its name. Rejects in the end when
 * one failed.
 */
export async function runSeeds(
  from: number,
  count: number,
  {
    life = lifeUnderFaults,
    of,
    print = console.log,
  }: { life?: (seed: number) => Promise<unknown>; of?: string; print?: (line: string) => void } = {},
): Promise<void> {
  assert.ok(count > 0);
  const seeds = sampled(numbers(from, from + count - 1));
  const failures: Error[] = [];
  for (const [index, seed] of seeds.entries()) {
    try {
      await life(seed);
    } catch (cause) {
      const replay = `seed ${seed} failed; replay it with: ${replayOf(seed, of)}`;
      print(`${replay}\n${cause instanceof Error ? cause.stack : String(cause)}`);
      failures.push(new Error(replay, { cause }));
      if (failures.length === MOST_FAILED) break;
    }
    const done = index + 1;
    if (done % PROGRESS_EVERY === 0 || done === seeds.length)
      print(`seeds: ${done} of ${seeds.length} played, ${failures.length} failed, last ${seed}`);
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join("\n"));
}
