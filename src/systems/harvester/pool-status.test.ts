import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { PoolPlan } from "./pool-plan.ts";
import { poolStatus } from "./pool-status.ts";

const poolOf = (spec: object = {}, status: object = {}) =>
  ({ metadata: { name: "rack", generation: 3 }, spec, status }) as unknown as InstancePool;
const planOf = (counts: object = {}, more: object = {}) =>
  ({
    counts: { ready: 0, requested: 5, replicas: 5, drifted: 0, status: "", ...counts },
    heldBack: 0,
    ...more,
  }) as unknown as PoolPlan;
const waiting = (name: string, status: object): Instance =>
  ({ metadata: { name }, status: { status: "provisioning", ...status } }) as unknown as Instance;
const facts = (of: object = {}) => ({ obstacle: undefined, instances: [], nextOrdinal: undefined, now: 0, ...of });
const condition = (status: ReturnType<typeof poolStatus>, type: string) =>
  status.conditions!.find((each) => each.type === type)!;

test("a pool with drifted machines says how they are replaced: by themselves, or once somebody deletes them", () => {
  const upToDate = (spec: object, drifted: number) => {
    const { status, reason, message } = condition(poolStatus(poolOf(spec), planOf({ drifted }), facts()), "UpToDate");
    return [status, reason, message];
  };
  assert.deepEqual(upToDate({}, 0), ["True", "UpToDate", ""]);
  assert.deepEqual(upToDate({ updateStrategy: { type: "RollingUpdate" } }, 2), [
    "False",
    "Drifted",
    "2 machines were made with an older specification: they are being replaced",
  ]);
  for (const spec of [{}, { updateStrategy: { type: "OnDelete" } }])
    assert.match(upToDate(spec, 2)[2]!, /: delete them to have them replaced$/);
});

test("a pool says what its machines wait for: the stalled first, three of them, and how many more", () => {
  const stalled = {
    conditions: [{ type: "Stalled", status: "True", message: "no such plan" }],
    waitingFor: "something else",
  };
  const instances = [
    waiting("a", { waitingFor: "the installer" }),
    waiting("b", { status: "managed", waitingFor: "its Node" }),
    waiting("c", {}),
    waiting("d", { waitingFor: "its ports" }),
    waiting("e", stalled),
    waiting("f", { waitingFor: "capacity" }),
  ];
  const ready = (of: Instance[]) => {
    const { status, reason, message } = condition(poolStatus(poolOf(), planOf(), facts({ instances: of })), "Ready");
    return [status, reason, message];
  };
  const joined = "0 of 5 machines have joined";
  assert.deepEqual(ready(instances), [
    "False",
    "Stalled",
    `${joined}; e: no such plan; a waits for the installer; d waits for its ports; and 1 more`,
  ]);
  assert.deepEqual(ready(instances.slice(0, 3)), ["False", "Progressing", `${joined}; a waits for the installer`]);
});

test("replacements in a row are counted until the pool is complete", () => {
  const failed = [waiting("a", { failure: { reason: "MachineFailed" } })];
  const replaced = (held: object, nextOrdinal: number, instances = failed, counts = {}) =>
    poolStatus(poolOf({}, { nextOrdinal: 4, ...held }), planOf(counts), facts({ instances, nextOrdinal })).replacements;
  const once = { count: 1, at: "1970-01-01T00:00:00.000Z" };
  assert.deepEqual(replaced({}, 5), once);
  assert.deepEqual(replaced({ replacements: once }, 5), { ...once, count: 2 });
  assert.deepEqual(replaced({ replacements: once }, 4), once, "nothing was created");
  assert.equal(replaced({}, 5, []), undefined, "nothing failed");
  assert.equal(replaced({ replacements: once }, 5, failed, { ready: 5 }), undefined);
});
