/** Operator processes that share their work on a real cluster, in real time, under the shipped RBAC: each shard has one, whatever becomes of the others. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { LEASE_TIMES } from "@slipway/kube";
import { Lease } from "@slipway/kube/core";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { whyNotHere } from "./cluster.ts";
import { type Live, startLive, until } from "./live.ts";
import type { Replica } from "./replica.ts";

const skip = (await whyNotHere()) ?? false;
const TAKE_OVER_MS = LEASE_TIMES.leaseMs + 5_000;
const SHARDS = 8;
const POOLS = ["rack-a", "rack-b", "rack-c", "rack-d"];

/** How many shards each of these holds. Others hold none that count. */
async function shares({ cluster }: Live, replicas: readonly Replica[]): Promise<number[]> {
  const { items } = await cluster.client.list(Lease, { namespace: "harvester-system" });
  const holders = items
    .filter(({ metadata }) => /-shard-\d+$/.test(metadata.name))
    .map(({ spec }) => (spec?.holderIdentity ?? "").replace(/_[^_]*$/, ""));
  return replicas.map(({ identity }) => holders.filter((holder) => holder === identity).length);
}

/** Until these hold all shards, evenly. How long it took is in the report; on a busy machine that says nothing about the code. */
async function shared(t: TestContext, live: Live, replicas: readonly Replica[], what: string): Promise<void> {
  const began = clock.now();
  const isEven = async (): Promise<boolean> => {
    const held = await shares(live, replicas);
    return held.reduce((sum, n) => sum + n, 0) === SHARDS && Math.max(...held) - Math.min(...held) <= 1;
  };
  const story = async (): Promise<string> => `${await shares(live, replicas)}\n${await live.story()}`;
  await until(`${what}: ${replicas.length} replicas share the work`, isEven, 3 * TAKE_OVER_MS, story);
  t.diagnostic(`${what}: shared after ${((clock.now() - began) / 1000).toFixed(1)} s`);
}

test("three processes with --shards share the work; those of one that is killed or asked to end go on, and no machine is bought twice", {
  skip,
}, async (t) => {
  const live = await startLive();
  t.after(() => live.close());
  const { client } = live.cluster;
  const bought = (): number => live.metal.equinix.sim.boughtEver().length;
  const begin = (): Promise<Replica> => live.operator("--shards", String(SHARDS));
  const all = [await begin(), await begin(), await begin()];
  await shared(t, live, all, "begun");

  const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly", count: 2 };
  for (const name of POOLS) await client.create(InstancePool, { metadata: { name }, spec });
  await until("some machines are bought", () => bought() > 2, 60_000, live.story);
  const [killed, ...others] = all as [Replica, ...Replica[]];
  await killed.end("SIGKILL");
  await shared(t, live, others, "killed");
  await live.whole(8);
  assert.equal(bought(), 8);

  const joined = await begin();
  await shared(t, live, [...others, joined], "joined");
  const body = { spec: { count: 3 } };
  for (const name of POOLS) await client.patch(InstancePool, { name }, { type: "merge", body });
  await until("it buys", () => bought() > 8, 60_000, live.story);
  const [ended, last] = others as [Replica, Replica];
  await ended.end("SIGTERM");
  assert.deepEqual(await shares(live, [ended]), [0], "it gives its Leases back before it is gone");
  await shared(t, live, [last, joined], "asked to end");
  await live.whole(12);
  assert.equal(bought(), 12);
  const forbidden = [...all, joined].flatMap(({ said }) => said.filter((line) => line.includes("Forbidden")));
  assert.deepEqual(forbidden, []);
});
