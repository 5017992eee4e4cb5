import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, Outcome } from "@slipway/kube";
import { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { Harvester } from "./harvester.ts";
import { poolController } from "./pool-controller.ts";

const REF = { name: "rack" };

/** A pool controller over `instances`, on a clock that the test moves. Counts the Instances that it goes through and what it writes. */
function rig({ count, instances, createMs = 0 }: { count: number; instances: Instance[]; createMs?: number }) {
  const seen = { instances: 0, created: [] as string[], statuses: [] as NonNullable<InstancePool["status"]>[] };
  let now = 0;
  const metadata = { ...REF, uid: "u", generation: 1, resourceVersion: "1" };
  let pool = { metadata, spec: { count, plan: "p" } } as unknown as InstancePool;
  const client = {
    list: async () => ({ items: instances, resourceVersion: "1" }),
    create: async (_: unknown, draft: Instance) => {
      now += createMs;
      seen.created.push(draft.metadata.name);
      instances.push({ ...draft, metadata: { ...draft.metadata, uid: draft.metadata.name } });
    },
    updateStatus: async (_: unknown, written: InstancePool) => {
      seen.statuses.push(written.status!);
      pool = written;
      return written;
    },
  };
  const cache = {
    get: () => pool,
    byIndex: () => {
      seen.instances += instances.length;
      return instances;
    },
  };
  const harvester = {
    addon: { namespace: "n", secret: "s" },
    accounts: { fleet: async () => ({}) },
    inputs: { token: async () => "t", serverUrl: async () => "u" },
  } as unknown as Harvester;
  const controller = poolController(harvester);
  const clock = { now: () => now, monotonic: () => now };
  const events = { normal: () => {}, warning: () => {} };
  const context = { client, cache, clock, events, clean: <T>(value: T): T => value } as unknown as Context;
  return {
    seen,
    reconcile: (): Promise<Outcome> => controller.reconcile(REF, context),
    passes: (ms: number): void => {
      now += ms;
    },
  };
}

const instanceOf = (name: string): Instance =>
  ({
    kind: Instance.kind,
    metadata: { name, uid: name },
    spec: { operating_system: "custom_ipxe", plan: "p" },
  }) as unknown as Instance;

/** How many Instances are gone through while `machines` come up at 60 a second, with an event of one of them every 10 ms. */
async function lookedThrough(machines: number): Promise<number> {
  const instances = Array.from({ length: machines }, (_, i) => instanceOf(`i${i}`));
  const { seen, reconcile, passes } = rig({ count: machines, instances });
  for (let ms = 0; ms < (machines / 60) * 1000; ms += 10) {
    await reconcile();
    passes(10);
  }
  return seen.instances;
}

test("twice the machines are at most two and a half times the work of their pool", async () => {
  const [once, twice] = [await lookedThrough(1000), await lookedThrough(2000)];
  assert.ok(once > 1000, "a pool is looked at more than once");
  assert.ok(twice <= 2.5 * once, `${once} Instances looked at for 1000 machines, ${twice} for 2000`);
});

test("a pool that can't be created in the time of one reconcile writes down how far it is, and goes on from there", async () => {
  const { seen, reconcile, passes } = rig({ count: 100, instances: [], createMs: 1000 });
  const first = await reconcile();
  assert.deepEqual(first, { againAfterMs: 0 });
  assert.equal(seen.created.length, 32, "two batches of 16 take longer than 30 s");
  assert.deepEqual([seen.statuses.at(-1)!.nextOrdinal, seen.statuses.at(-1)!.replicas], [32, 32]);
  for (let round = 0; round < 10; round++) {
    passes(1000);
    await reconcile();
  }
  assert.equal(seen.created.length, 100);
  assert.equal(new Set(seen.created).size, 100, "no name is tried twice");
});
