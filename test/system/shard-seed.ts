/** Pools whose work replicas share out, while replicas join, stop, die and sleep, drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { seededRandom } from "@slipway/base";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { systemsOf } from "../../src/operator/operator.ts";
import { Crew, Ways } from "./crew.ts";
import { HarvesterWorld, type HarvesterWorldOptions } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const POOLS = 5;
const MISCHIEF_MS = 10 * MINUTE;

/** A world in which the replicas share the work of some pools. */
export async function crewWorld(options: HarvesterWorldOptions): Promise<Crew<HarvesterWorld>> {
  const crew = new Crew(await HarvesterWorld.create({ systems: systemsOf(["harvester", "providers"]), ...options }));
  await crew.begin();
  return crew;
}

/** Until the pools have so many machines in all, none bought beside them. */
export async function bought({ world }: Crew<HarvesterWorld>, count: number): Promise<void> {
  await assertConverged(world, count);
  assert.equal(world.cloud.bought(), count, "a machine is bought twice");
}

/** Plays the history of one seed. Throws when it does not converge, or something is bought twice. */
export async function poolsOverShards(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 11);
  const ways = new Ways();
  const crew = await crewWorld({
    seed,
    provider: seed % 3 === 0 ? "latitude" : "equinix",
    faults: {
      ...{ lostAnswerAfterEffect: 0.04, lostBeforeEffect: 0.03, throttled: 0.05, serverError: 0.04, reset: 0.03 },
      slow: { rate: 0.2, minMs: 10, maxMs: 8_000 },
    },
    transport: ways.transport,
  });
  const { world } = crew;

  async function mischief(): Promise<void> {
    ways.mend();
    if (draw.fraction() < 0.1) ways.cutOne(draw);
    await crew.befall(draw);
  }

  async function mend(): Promise<void> {
    ways.mend();
    await crew.mend();
  }

  try {
    for (let i = 0; i < POOLS; i++) await world.pool(`rack-${i}`, { count: 1 });
    for (const count of [1 + draw.int(2), 3]) {
      for (let i = 0; i < POOLS; i++) {
        const patch = { type: "merge", body: { spec: { count } } } as const;
        await world.whileTimePasses(world.client.patch(InstancePool, { name: `rack-${i}` }, patch));
      }
      const ends = world.clock.now() + MISCHIEF_MS;
      await world.until(
        `each pool has ${count} machines`,
        async () => {
          await assertInvariants(world);
          const isOver = world.clock.now() >= ends;
          await (isOver ? mend() : mischief());
          return isOver && (await world.instances()).length === POOLS * count && (await world.converged());
        },
        12 * HOUR,
        20 * SECOND,
      );
      await bought(crew, POOLS * count);
    }
    await crew.shared();
  } finally {
    await world.close();
  }
}
