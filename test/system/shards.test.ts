/** Replicas that share out the work of pools: each pool has one of them, whatever becomes of the others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers } from "./api.ts";
import { coreOverShards } from "./cluster-api-life.ts";
import { type Crew, held, TAKEN_OVER_MS } from "./crew.ts";
import { runSeeds } from "./fault-seed.ts";
import type { HarvesterWorld } from "./harvester-world.ts";
import { hostClaimsOverShards } from "./host-claim-seed.ts";
import { ownPoolOverShards } from "./own-seed.ts";
import { packetOverShards } from "./packet-life.ts";
import { plunderOverShards } from "./plunder-seed.ts";
import { ofTurn } from "./seeds-of-turn.ts";
import { bought, crewWorld, poolsOverShards } from "./shard-seed.ts";
import { sipOverShards } from "./sip-seed.ts";
import { rivalsOverShards, tenantsOverShards } from "./tenant-seed.ts";
import { vinosOverShards } from "./vino-seed.ts";
import { MINUTE, SECOND } from "./world.ts";

const POOLS = 6;

const KILLED_AFTER_SECONDS = [3, 0, 8, 13, 20, 31, 61.5, 90, 180, 400];

/** Four replicas with some pools of two machines each. */
async function staged(work: (crew: Crew<HarvesterWorld>) => Promise<void>): Promise<void> {
  const crew = await crewWorld({ seed: 18 });
  try {
    for (let i = 0; i < POOLS; i++) await crew.world.pool(`rack-${i}`, { count: 2 });
    await work(crew);
  } finally {
    await crew.world.close();
  }
}

async function ready(crew: Crew<HarvesterWorld>): Promise<void> {
  const { world } = crew;
  await world.until("all machines have joined", async () => {
    crew.check();
    return (await world.instances()).length === 2 * POOLS && (await world.converged());
  });
  await bought(crew, 2 * POOLS);
}

test("four replicas share out the shards evenly, and several of them buy machines", () =>
  staged(async (crew) => {
    await ready(crew);
    assert.deepEqual(crew.all.map(held), [2, 2, 2, 2]);
    const buyers = crew.all.filter(({ mortal }) => mortal.cloudCalls > 0);
    assert.ok(buyers.length > 2, `${buyers.length} of them`);
  }));

test("a killed replica's shards are worked on by the others within the lease's duration and 5 s, wherever it stood", async () => {
  for (const seconds of ofTurn(KILLED_AFTER_SECONDS, process.env))
    await staged(async (crew) => {
      await crew.world.clock.run(seconds * SECOND);
      crew.kill(crew.all[1]!);
      const took = await crew.shared();
      assert.ok(took <= TAKEN_OVER_MS, `killed after ${seconds} s, taken over after ${took} ms`);
      await ready(crew);
    });
});

test("a replica that stops amid its work hands over at once, and one that joins gets its part; nothing is bought twice", () =>
  staged(async (crew) => {
    await crew.world.clock.run(20 * SECOND);
    crew.stop(crew.all[0]!);
    const took = await crew.shared();
    assert.ok(took <= 10 * SECOND, `${took} ms`);
    await crew.add();
    await crew.add();
    await crew.shared(MINUTE);
    assert.deepEqual(crew.all.map(held).toSorted(), [1, 1, 2, 2, 2]);
    await ready(crew);
  }));

test("a replica that falls asleep with a write in its hand, and wakes when others have its shards, buys nothing twice", async () => {
  for (const effect of ofTurn(numbers(1, 10), process.env))
    await staged(async (crew) => {
      const [sleeper] = crew.all as [Crew["all"][number]];
      sleeper.mortal.sleepsAtEffect = sleeper.mortal.effects + effect;
      await crew.world.until("it sleeps", () => !sleeper.mortal.awake, 30 * MINUTE);
      await crew.shared();
      await crew.world.clock.run(10 * SECOND);
      sleeper.mortal.resume();
      await crew.shared();
      await ready(crew);
    });
});

const { TURN = "0" } = process.env;
/** `make sim` plays many more. */
const SEEDS = 1;

test("pools over shards converge under faults while replicas come and go, and no machine is bought twice", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: poolsOverShards });
});

/** Every fifth turn: four operators with a netboot each take minutes. `make sim ONLY=shards` plays it always. */
const skip = Number(TURN) % 5 !== 0 && "not this turn: TURN=0 plays it";

test("a pool on own hosts converges over shards under faults: no host is wiped or taken twice, though netboot moves, too", {
  skip,
}, async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: ownPoolOverShards });
});

test("PlunderMachines on own hosts over shards under faults: none gets two hosts, no address is given twice, nothing is left over", {
  skip,
}, async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: plunderOverShards });
});

test("a cluster of the light core converges over shards under faults, each Machine with one host, and leaves nothing behind", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: coreOverShards });
});

test("a cluster of Packet machines over shards, deleted in any order under faults: nothing is bought twice, nothing is left", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: packetOverShards });
});

test("Vinos over shards under faults: no address, MAC or machine is given twice, every node has what was asked for last, nothing is left", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: vinosOverShards });
});

test("SIPClusters that compete for hosts over shards under faults: no host is in two of them, none has more than it asked for, none is kept", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: sipOverShards });
});

test("HostClaims that compete for hosts over shards while replicas come and go: no claim has two, no host is installed twice, none is kept", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: hostClaimsOverShards });
});

test("tenants over shards under faults: each has its own objects and what was asked for last, nothing of any is left over", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: tenantsOverShards });
});

test("B28 two tenants of two replicas that name one schema and user: one has them, and the other one once that is gone", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: rivalsOverShards });
});
