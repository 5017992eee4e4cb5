import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { ADOPTED, PROTECT } from "./names.ts";
import { leavingOrder, planPool } from "./pool-plan.ts";
import { driftOf, instanceName, instanceSpecOf, treatmentPatch } from "./pool-template.ts";

const meta = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
});

const pool = (spec: Partial<InstancePool["spec"]> = {}): InstancePool => ({
  apiVersion: "equinix.harvesterhci.io/v1",
  kind: "InstancePool",
  metadata: meta("rack"),
  spec: { count: 3, plan: "c3.small.x86", metro: "SG", ...spec },
});

interface Traits {
  status?: string;
  ready?: boolean;
  deleting?: boolean;
  protect?: boolean;
  born?: string;
}

const instance = (name: string, of: Traits = {}): Instance => ({
  apiVersion: "equinix.harvesterhci.io/v1",
  kind: "Instance",
  metadata: {
    ...meta(name),
    creationTimestamp: of.born ?? "2026-01-01T00:00:00Z",
    ...(of.deleting && { deletionTimestamp: "2026-01-01T01:00:00Z" }),
    ...(of.protect && { annotations: { [PROTECT]: "true" } }),
  },
  spec: instanceSpecOf(pool()),
  status: {
    instanceID: `m-${name}`,
    status: of.status ?? "managed",
    conditions: [
      {
        type: "Ready",
        status: of.ready === false ? "False" : "True",
        reason: "x",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
});

const names = (list: readonly Instance[]): string[] => list.map(({ metadata }) => metadata.name);

test("H2 what is missing is counted from what is there, so a failed creation is never repeated for the ones that worked", () => {
  assert.equal(planPool(pool(), []).create, 3);
  assert.equal(planPool(pool(), [instance("a"), instance("b")]).create, 1);
});

test("H2 the k-th name of a pool is always the same, as the addon spells it", () => {
  assert.match(instanceName(pool(), 0), /^rack-[a-z]{8}$/);
  assert.equal(instanceName(pool(), 7), instanceName(pool(), 7));
  assert.notEqual(instanceName(pool(), 7), instanceName(pool(), 8));
});

test("H4 an instance that is being deleted is not present: its successor comes at once, and nobody else goes for it", () => {
  const leaving = [instance("a"), instance("b"), instance("c", { deleting: true })];

  assert.equal(planPool(pool(), leaving).create, 1);
  assert.deepEqual(planPool(pool({ count: 2 }), leaving).remove, []);
});

test("H5 failed machines go first, then those on their way, then those not Ready, then the youngest Ready one", () => {
  const all = [
    instance("ready-old", { born: "2026-01-01T00:00:00Z" }),
    instance("ready-young", { born: "2026-01-02T00:00:00Z" }),
    instance("not-ready", { ready: false }),
    instance("on-its-way", { status: "provisioning", ready: false }),
    instance("failed", { status: "failed", ready: false }),
  ];

  assert.deepEqual(names(leavingOrder(all)), ["failed", "on-its-way", "not-ready", "ready-young", "ready-old"]);
});

test("H5 each group goes before the next whatever its age; in one the drifted go first, then the youngest, then by name", () => {
  const born = (day: number) => `2026-01-0${day}T00:00:00Z`;
  const drifted = instance("drifted", { born: born(1) });
  drifted.status!.drift = ["plan"];
  const all = [
    instance("ready-b", { born: born(5) }),
    instance("ready-a", { born: born(5) }),
    drifted,
    instance("not-ready", { ready: false, born: born(4) }),
    instance("on-its-way", { status: "provisioning", ready: false, born: born(3) }),
    instance("failed", { status: "failed", ready: false, born: born(2) }),
  ];
  assert.deepEqual(names(leavingOrder(all)), ["failed", "on-its-way", "not-ready", "drifted", "ready-a", "ready-b"]);
});

test("H8 a protected instance is not chosen, and the pool says how many are held back", () => {
  const plan = planPool(pool({ count: 0 }), [instance("a", { protect: true }), instance("b")]);

  assert.deepEqual(names(plan.remove.map((r) => r.instance)), ["b"]);
  assert.equal(plan.heldBack, 1);
});

test("H4 however a pool shrinks, exactly the surplus goes and only present ones go", () => {
  const traits = fc.record({
    status: fc.constantFrom("", "queued", "managed", "failed"),
    deleting: fc.boolean(),
    ready: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(traits, { maxLength: 20 }), fc.nat({ max: 20 }), (list, count) => {
      const all = list.map((of, i) => instance(`i${i}`, of));
      const present = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const plan = planPool(pool({ count }), all);
      assert.equal(plan.remove.length, Math.max(0, present.length - count));
      assert.equal(plan.create, Math.max(0, count - present.length));
      assert.ok(plan.remove.every(({ instance }) => present.includes(instance)));
    }),
  );
});

test("H28 a change of the plan is drift; a roll-out replaces no more at once than may be missing", () => {
  const held = [instance("a"), instance("b"), instance("c")];
  const changed = pool({ plan: "m3.large.x86", updateStrategy: { type: "RollingUpdate", maxUnavailable: 2 } });

  assert.deepEqual(driftOf(instanceSpecOf(changed), held[0]!), ["plan"]);
  assert.equal(planPool(changed, held).counts.drifted, 3);
  assert.equal(planPool(changed, held).remove.length, 2);
  assert.equal(planPool(pool({ plan: "m3.large.x86" }), held).remove.length, 0, "OnDelete waits for the user");
});

test("H28 null, empty and absent are the same wish", () => {
  assert.deepEqual(
    driftOf(instanceSpecOf(pool({ facility: [], features: {}, customData: "", spotInstance: false })), instance("a")),
    [],
  );
});

test("H18 how a machine is treated changes without replacing it", () => {
  const changed = pool({ nodeCleanupWaitInterval: "10m" });

  assert.deepEqual(driftOf(instanceSpecOf(changed), instance("a")), []);
  assert.deepEqual(treatmentPatch(instanceSpecOf(changed), instance("a")), {
    metadata: { resourceVersion: "1" },
    spec: { nodeCleanupWaitInterval: "10m" },
  });
  assert.equal(treatmentPatch(instanceSpecOf(pool()), instance("a")), undefined);
});

test("an instance for which nothing was ordered has no drift: it takes up all of the pool's specification", () => {
  const changed = instanceSpecOf(pool({ plan: "m3.large.x86", nodeCleanupWaitInterval: "10m" }));
  const unordered = { ...instance("a"), status: { status: "stalled" } };
  const refused = {
    ...unordered,
    status: { purchase: { attempt: 1, at: "", state: "Refused" as const, placement: 0 } },
  };
  const pending = {
    ...unordered,
    status: { purchase: { attempt: 1, at: "", state: "Pending" as const, placement: 0 } },
  };
  for (const one of [unordered, refused]) {
    assert.deepEqual(driftOf(changed, one), []);
    assert.deepEqual(treatmentPatch(changed, one), {
      metadata: { resourceVersion: "1" },
      spec: { nodeCleanupWaitInterval: "10m", plan: "m3.large.x86" },
    });
  }
  assert.deepEqual(driftOf(changed, pending), ["plan"], "its order may have bought a machine of the old plan");
});

test("H28 a price is the same in every spelling of a Quantity, and 0 is none", () => {
  const priced = (text?: string) => {
    const held = instance("a");
    return { ...held, spec: { ...held.spec, ...(text !== undefined && { spotPriceMax: text }) } };
  };
  assert.deepEqual(driftOf(instanceSpecOf(pool()), priced("0")), []);
  assert.deepEqual(driftOf(instanceSpecOf(pool({ spotPriceMax: "0.5" })), priced("500m")), []);
  assert.deepEqual(driftOf(instanceSpecOf(pool({ spotPriceMax: "0.5" })), priced("0.6")), ["spotPriceMax"]);
});

test("the pool's words are the addon's", () => {
  assert.equal(planPool(pool(), []).counts.status, "tokenReady");
  assert.equal(planPool(pool({ count: 1 }), [instance("a", { status: "queued" })]).counts.status, "submitted");
  assert.equal(planPool(pool({ count: 1 }), [instance("a")]).counts.status, "ready");
  assert.equal(planPool(pool({ count: 0 }), [instance("a")]).counts.status, "cleanupNodes");
});

test("an adopted machine drifts by what the addon wrote down of it alone", () => {
  const plain = instance("a");
  const adopted = { ...plain, metadata: { ...plain.metadata, annotations: { [ADOPTED]: "harvester-equinix-addon" } } };
  const changed = instanceSpecOf(pool({ plan: "m3.large.x86", installMode: "TwoPass", billingCycle: "hourly" }));
  assert.deepEqual(driftOf(changed, adopted), ["plan"]);
  assert.deepEqual(driftOf(changed, plain).toSorted(), ["billingCycle", "installMode", "plan"]);
});
