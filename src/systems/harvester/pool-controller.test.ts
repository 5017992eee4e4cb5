import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
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

/** One look at a pool with these metadata and status; what was written to it, said and deleted. */
async function looked(
  metadata: Partial<InstancePool["metadata"]>,
  {
    instances = [instanceOf("a")],
    status,
    spec = {},
    fails,
  }: { instances?: Instance[]; status?: InstancePool["status"]; spec?: object; fails?: Fault } = {},
) {
  const pool = {
    metadata: { ...REF, uid: "u", generation: 1, resourceVersion: "1", ...metadata },
    spec: { count: 1, plan: "p", ...spec },
    status,
  } as unknown as InstancePool;
  const happened: string[] = [];
  const statuses: NonNullable<InstancePool["status"]>[] = [];
  const say = (level: string) => (_: unknown, reason: string) => void happened.push(`${level} ${reason}`);
  const context = {
    client: {
      list: async () => ({ items: instances }),
      find: async () => pool,
      create: async () => void happened.push("created"),
      delete: async (_: unknown, { name }: { name: string }) => void happened.push(`deleted ${name}`),
      patch: async (_: unknown, __: unknown, { body }: { body: unknown }) => {
        happened.push(JSON.stringify(body));
        return pool;
      },
      updateStatus: async (_: unknown, written: InstancePool) => {
        statuses.push(written.status!);
        return written;
      },
    },
    cache: { get: () => pool, byIndex: () => instances },
    ...{ clock: { now: () => 0, monotonic: () => 0 }, events: { normal: say("Normal"), warning: say("Warning") } },
    clean: <T>(value: T): T => value,
  } as unknown as Context;
  const fleet = async () => (fails === undefined ? {} : Promise.reject(fails));
  const harvester = {
    ...{ addon: { namespace: "n", secret: "s" }, accounts: { fleet } },
    inputs: { token: async () => "t", serverUrl: async () => "u" },
  } as unknown as Harvester;
  const outcome = await poolController(harvester).reconcile(REF, context);
  return { happened, outcome, status: statuses.at(-1) };
}
const PROTECTED = { "slipway.dev/protect": "true" };
const HOLD = "slipway.dev/protected-pool";
const touched = (happened: string[]) => happened.filter((line) => line.includes("finalizers"));

test("H8 a protected pool gets a finalizer once, and loses it with the protection", async () => {
  assert.equal(touched((await looked({ annotations: PROTECTED })).happened).length, 1);
  assert.deepEqual(touched((await looked({ annotations: PROTECTED, finalizers: [HOLD] })).happened), []);
  assert.equal(touched((await looked({ finalizers: [HOLD] })).happened).length, 1);
  assert.deepEqual(touched((await looked({})).happened), []);
  assert.deepEqual(touched((await looked({ annotations: { "slipway.dev/protect": "no" } })).happened), []);
});

test("H8 the deletion of a protected pool waits and says so; that of another one changes nothing of its Instances", async () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const held = await looked({ annotations: PROTECTED, finalizers: [HOLD], deletionTimestamp }, { instances: [] });
  assert.deepEqual(held.happened, ["Warning Protected"]);
  const leaving = await looked({ annotations: PROTECTED, deletionTimestamp }, { instances: [] });
  assert.deepEqual(leaving.happened, []);
  const freed = await looked({ finalizers: [HOLD], deletionTimestamp }, { instances: [] });
  assert.equal(touched(freed.happened).length, 1);
  assert.ok(!freed.happened.includes("created"));
});

test("H14 what prevents the first Instance is on the pool, with a warning, and looked at again", async () => {
  const missing = new Fault("MissingInput", "Secret/n/s", "the Secret does not exist");
  const waits = await looked({}, { instances: [], fails: missing });
  assert.ok("againAfterMs" in waits.outcome && waits.outcome.againAfterMs > 0);
  const reasons = (status: InstancePool["status"]) => status?.conditions?.map(({ reason }) => reason) ?? [];
  assert.ok(reasons(waits.status).includes("MissingInput"), reasons(waits.status).join());
  assert.deepEqual(waits.happened, ["Warning MissingInput"]);
  const wrong = await looked({}, { instances: [], spec: { plan: "" } });
  assert.ok(reasons(wrong.status).includes("Invalid") && !wrong.happened.includes("created"));
  await assert.rejects(looked({}, { instances: [], fails: new Fault("Unavailable", "api", "x") }), /api: x/);
});

test("H4 what is too much is deleted with the reason, and a pool that is as wanted deletes nothing", async () => {
  const two = [instanceOf("a"), instanceOf("b")];
  const { happened } = await looked({}, { instances: two });
  assert.equal(happened.filter((line) => line.startsWith("deleted ")).length, 1);
  assert.ok(happened.includes("Normal Removing"));
  assert.deepEqual((await looked({})).happened, []);
});
