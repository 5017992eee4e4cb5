import assert from "node:assert/strict";
import { test } from "node:test";
import { isoTime } from "@slipway/base";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { Machine } from "../../machines/machine.ts";
import { claimOf } from "./claim.ts";
import { type InstancePlan, type InstanceView, planInstance } from "./instance-plan.ts";
import { journalOf } from "./journal.ts";

const MINUTE = 60_000;
const T0 = Date.UTC(2026, 0, 1);

const machine = {
  id: "m-1",
  phase: "running",
  providerState: "active",
  addresses: [],
  ports: [],
} as unknown as Machine;

interface World {
  spec?: Partial<Instance["spec"]>;
  status?: Instance["status"];
  machine?: InstanceView["machine"];
  node?: { ready: "True" | "False" | "Unknown"; since: number; stranger?: boolean };
  now?: number;
}

const JOINED: NonNullable<Instance["status"]> = {
  status: "managed",
  instanceID: "m-1",
  node: { uid: "n-1", joined: isoTime(T0) },
};

function plan({ spec, status = JOINED, machine: seen = machine, node, now = T0 }: World): InstancePlan {
  const instance = {
    metadata: { name: "rack-a", uid: "u-1", generation: 1 },
    spec: { plan: "p", ...spec },
    status,
  } as unknown as Instance;
  const object = {
    metadata: { name: "rack-a", uid: "n-1" },
    status: {
      conditions: [
        { type: "Ready", status: node?.ready, lastTransitionTime: isoTime(node?.since ?? T0), message: "why" },
      ],
    },
  } as unknown as Node;
  return planInstance({
    instance,
    claim: claimOf(instance),
    journal: journalOf(status),
    machine: seen,
    settled: true,
    node: node && { node: object, identity: node.stranger ? "stranger" : "ours" },
    now,
  });
}

const reason = (world: World): string => {
  const { step } = plan(world);
  return step.do === "giveUp" ? step.reason : step.do;
};

test("H9 a machine that the provider does not know any more is given up, in service or not", () => {
  assert.equal(reason({ machine: "gone" }), "MachineGone");
  assert.equal(reason({ machine: "gone", status: { status: "queued", instanceID: "m-1" } as never }), "MachineGone");
});

test("H12 a Node that is not Ready is given up after nodeCleanupWaitInterval, counted from its last transition", () => {
  const spec = { nodeCleanupWaitInterval: "5m" };
  for (const ready of ["False", "Unknown"] as const) {
    const node = { ready, since: T0 };
    assert.equal(reason({ spec, node, now: T0 + 5 * MINUTE - 1 }), "wait");
    assert.equal(reason({ spec, node, now: T0 + 5 * MINUTE }), "NodeNotReady");
    assert.equal(reason({ node, now: T0 + 500 * MINUTE }), "wait", "without an interval it is never cleaned up");
  }
  assert.equal(reason({ spec, node: { ready: "True", since: T0 }, now: T0 + 500 * MINUTE }), "wait");
});

test("H7 a Node that was deleted is waited for, unless nodeDeletionPolicy says Release", () => {
  assert.equal(reason({}), "wait");
  assert.match(plan({}).status.waitingFor!, /its Node, which was deleted/);
  assert.equal(plan({}).status.status, "ready");
  assert.equal(reason({ spec: { nodeDeletionPolicy: "Release" } }), "NodeDeleted");
});

test("H7 a stranger's Node is reported as a conflict and counts for nothing", () => {
  const status = { status: "ready", instanceID: "m-1" } as never;
  const { status: shown } = plan({ status, node: { ready: "True", since: T0, stranger: true } });
  assert.ok(shown.conditions!.some((c) => c.type === "NodeConflict" && c.status === "True"));
  assert.equal(shown.node, undefined);
});

test("addresses that the provider does not report stay as they were known, and are empty until they are known", () => {
  const unknown = plan({}).status;
  assert.deepEqual([unknown.publicIP, unknown.privateIP], ["", ""]);
  const known = plan({ status: { ...JOINED, publicIP: "203.0.113.7", privateIP: "10.0.0.7" } }).status;
  assert.deepEqual([known.publicIP, known.privateIP], ["203.0.113.7", "10.0.0.7"]);
});

test("H12 managed needs a Node that was Ready at least once", () => {
  const status = { status: "ready", instanceID: "m-1" } as never;
  assert.equal(plan({ status, node: { ready: "False", since: T0 } }).status.status, "ready");
  assert.equal(plan({ status, node: { ready: "True", since: T0 } }).status.status, "managed");
  assert.equal(plan({ node: { ready: "False", since: T0 } }).status.status, "managed");
});

test("a failed machine whose Node is Ready is not released on hearsay", () => {
  const failed = { ...machine, phase: "failed", providerState: "failed" } as Machine;
  assert.equal(reason({ machine: failed, node: { ready: "True", since: T0 } }), "wait");
  assert.equal(reason({ machine: failed, node: { ready: "Unknown", since: T0 } }), "MachineFailed");
});

test("what is waited for keeps its since while it is the same", () => {
  const first = plan({}).status;
  const later = plan({ status: first, now: T0 + MINUTE }).status;
  assert.equal(later.waitingSince, first.waitingSince);
  const back = plan({ status: first, node: { ready: "True", since: T0 }, now: T0 + MINUTE }).status;
  assert.equal(back.waitingFor, undefined);
});

test("a wait that ends at a deadline says so, and one without an end names none", () => {
  const spec = { nodeCleanupWaitInterval: "5m" };
  const away = { ready: "False" as const, since: T0 };
  assert.equal(plan({ spec, node: away }).status.deadline, isoTime(T0 + 5 * MINUTE));
  assert.equal(plan({ node: away }).status.deadline, undefined);
});
