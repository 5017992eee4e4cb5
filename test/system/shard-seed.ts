/** Pools whose work replicas share out, while replicas join, stop, die and sleep, drawn from a seed. The same seed is the same history. */
import assert from "node:assert/strict";
import { seededRandom } from "@slipway/base";
import { LEASE_TIMES } from "@slipway/kube";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { systemsOf } from "../../src/operator/operator.ts";
import { HARVESTER } from "../../src/systems/harvester/names.ts";
import { HarvesterWorld, type HarvesterWorldOptions } from "./harvester-world.ts";
import { assertConverged, assertInvariants } from "./invariants.ts";
import { interruptible } from "./mortal.ts";
import { HOUR, MINUTE, type RunningOperator, SECOND } from "./world.ts";

export const SHARDS = 8;
const POOLS = 5;
const REPLICAS = 4;
const MISCHIEF_MS = 10 * MINUTE;
/** Two times in three nothing happens. */
const HARMS = ["kill", "stop", "sleep", "add", "wake"] as const;

/** How many shards a replica works on. */
export function held({ manager, mortal }: RunningOperator): number {
  if (!mortal.awake) return 0;
  return manager.health().systems.find(({ system }) => system === HARVESTER)?.shards.held ?? 0;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Replicas of a world that share its work. */
export class Crew {
  readonly world: HarvesterWorld;
  all: RunningOperator[] = [];

  constructor(world: HarvesterWorld) {
    this.world = world;
  }

  async add(): Promise<void> {
    this.all.push(await this.world.operator({ shards: SHARDS }));
  }

  get living(): RunningOperator[] {
    return this.all.filter(({ mortal }) => mortal.awake);
  }

  /** Never is more held than there is: each shard by one. */
  check(): void {
    const shares = this.living.map(held);
    assert.ok(sum(shares) <= SHARDS, `${shares} of ${SHARDS} shards are held`);
  }

  /** Resolves when all shards are held by the living, evenly; how long it took. */
  async shared(within = 3 * MINUTE): Promise<number> {
    const began = this.world.clock.monotonic();
    const isEven = (): boolean => {
      const shares = this.living.map(held);
      return sum(shares) === SHARDS && Math.max(...shares) - Math.min(...shares) <= 1;
    };
    await this.world.until(`${this.living.length} replicas share the work`, isEven, within, SECOND / 2);
    return this.world.clock.monotonic() - began;
  }

  kill(victim: RunningOperator): void {
    victim.mortal.kill();
    this.all = this.all.filter((one) => one !== victim);
  }

  /** It gives its shards back by itself, and its process ends. */
  stop(victim: RunningOperator): void {
    this.all = this.all.filter((one) => one !== victim);
    void victim.manager.stop().then(() => victim.mortal.kill());
  }
}

/** A world in which the replicas share the work of some pools. */
export async function crewWorld(options: HarvesterWorldOptions, replicas = REPLICAS): Promise<Crew> {
  const crew = new Crew(await HarvesterWorld.create({ systems: systemsOf(["harvester", "providers"]), ...options }));
  for (let i = 0; i < replicas; i++) await crew.add();
  await crew.shared();
  return crew;
}

/** Until the pools have so many machines in all, none bought beside them. */
export async function bought({ world }: Crew, count: number): Promise<void> {
  await assertConverged(world, count);
  assert.equal(world.cloud.bought(), count, "a machine is bought twice");
}

/** Plays the history of one seed. Throws when it does not converge, or something is bought twice. */
export async function poolsOverShards(seed: number): Promise<void> {
  const draw = seededRandom(seed * 7919 + 11);
  const chance = (p: number): boolean => draw.fraction() < p;
  const cutOff = new Set<number>();
  let transports = 0;
  const crew = await crewWorld({
    seed,
    provider: seed % 3 === 0 ? "latitude" : "equinix",
    faults: {
      ...{ lostAnswerAfterEffect: 0.04, lostBeforeEffect: 0.03, throttled: 0.05, serverError: 0.04, reset: 0.03 },
      slow: { rate: 0.2, minMs: 10, maxMs: 8_000 },
    },
    transport: (inner) => {
      const id = transports++;
      return interruptible(inner, () => cutOff.has(id));
    },
  });
  const { world } = crew;
  const sleepers: RunningOperator[] = [];

  async function mischief(): Promise<void> {
    const { living } = crew;
    cutOff.clear();
    if (chance(0.1)) cutOff.add(draw.int(transports));
    const victim = living[draw.int(living.length)]!;
    const harm = living.length < 2 ? "add" : HARMS[draw.int(3 * HARMS.length)];
    if (harm === "kill") crew.kill(victim);
    if (harm === "stop") crew.stop(victim);
    if (harm === "add" && living.length < 5) await crew.add();
    if (harm === "wake") sleepers.pop()?.mortal.resume();
    if (harm === "sleep") {
      victim.mortal.pause();
      sleepers.push(victim);
    }
  }

  async function mend(): Promise<void> {
    cutOff.clear();
    for (const sleeper of sleepers.splice(0)) sleeper.mortal.resume();
    if (crew.living.length < 2) await crew.add();
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
          crew.check();
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

/** The time within which another replica works on what a dead one had. */
export const TAKEN_OVER_MS = LEASE_TIMES.leaseMs + 5 * SECOND;
