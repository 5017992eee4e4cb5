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
  settled?: boolean;
  now?: number;
}

const JOINED: NonNullable<Instance["status"]> = {
  status: "managed",
  instanceID: "m-1",
  node: { uid: "n-1", joined: isoTime(T0) },
};

function plan({ spec, status = JOINED, node, settled = true, now = T0, ...world }: World): InstancePlan {
  const seen = "machine" in world ? world.machine : machine;
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
    settled,
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

const AT = isoTime(T0);
const ready = { ready: "True", since: T0 } as const;
const ORDERED = { purchase: { attempt: 1, at: AT, state: "Done" as const, placement: 0 }, instanceID: "m-1" };
const booted = (pass: 1 | 2, install: object = {}): NonNullable<Instance["status"]> => ({
  ...ORDERED,
  boot: { id: "b", pass, at: AT, sent: true },
  install: { bootID: "b", ...install },
});
const building = { ...machine, phase: "building", providerState: "queued" } as Machine;
const stalled = { type: "Stalled", status: "True" as const, reason: "Invalid", message: "no", lastTransitionTime: AT };

test("each stage of an Instance has its word, the addon's where it had one", () => {
  const word = (world: World) => plan(world).status.status;
  assert.equal(word({ status: {}, machine: undefined }), "ordering");
  assert.equal(word({ status: { conditions: [stalled] }, machine: undefined }), "stalled");
  assert.equal(word({ status: booted(1), machine: building }), "queued");
  assert.equal(word({ status: booted(1) }), "provisioning");
  assert.equal(word({ status: booted(2) }), "reinstalling");
  assert.equal(word({ status: booted(1, { succeeded: AT }) }), "ready");
  assert.equal(word({ status: booted(1), node: { ready: "False", since: T0 } }), "ready");
  assert.equal(word({ node: ready }), "managed");
  assert.equal(word({}), "ready");
  assert.equal(word({ status: { ...JOINED, failure: { reason: "x", message: "y", at: AT } } }), "failed");
  assert.equal(word({ status: { ...ORDERED, status: "queued" } }), "queued");
  assert.equal(word({ status: ORDERED }), "provisioning");
  const vlans = { type: "hybrid" };
  assert.equal(word({ spec: { networkingConfiguration: vlans }, settled: false, node: ready }), "ready");
});

/** The conditions by their types: status, reason. */
const shown = (world: World): Record<string, string> =>
  Object.fromEntries(
    (plan(world).status.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );

test("the conditions say how far a machine is: handed over, installed, joined", () => {
  assert.deepEqual(shown({ status: {}, machine: undefined }), { Ready: "False Ordering" });
  const refused = { purchase: { attempt: 1, at: AT, state: "Refused" as const, placement: 0 } };
  assert.deepEqual(shown({ status: refused, machine: undefined }), { Ready: "False NoCapacity" });
  assert.deepEqual(shown({ status: booted(1), machine: building }), {
    MachineReady: "False Building",
    Ready: "False Provisioning",
  });
  const handedOver = { MachineReady: "True HandedOver" };
  assert.deepEqual(shown({ status: booted(1) }), {
    ...handedOver,
    Installed: "False Booting",
    Ready: "False Provisioning",
  });
  const begun = booted(1, { started: AT });
  assert.deepEqual(shown({ status: begun }), {
    ...handedOver,
    Installed: "False Installing",
    Ready: "False Installing",
  });
  const installed = { ...handedOver, Installed: "True Installed" };
  assert.deepEqual(shown({ status: booted(1, { succeeded: AT }) }), { ...installed, Ready: "False Joining" });
  assert.deepEqual(shown({ node: ready }), { ...installed, Ready: "True Joined" });
  assert.deepEqual(shown({}), { ...installed, Ready: "False NodeMissing" });
  assert.deepEqual(shown({ node: { ready: "False", since: T0 } }), { ...installed, Ready: "False NodeNotReady" });
  const taken = { ...JOINED, takenOver: { from: "a", as: "managed", at: AT } };
  assert.deepEqual(shown({ status: taken, node: ready }), {
    ...handedOver,
    Installed: "True TakenOver",
    Ready: "True Joined",
  });
});

test("H15 ports that are wished have a condition: set, not set yet, changed from outside, or left as they were taken over", () => {
  const spec = { networkingConfiguration: { type: "hybrid" } };
  const network = (world: World) => shown({ spec, node: ready, ...world }).NetworkReady;
  const held = (reason: string) => ({ ...JOINED, conditions: [{ ...stalled, type: "NetworkReady", reason }] });
  assert.equal(network({}), "True AsWanted");
  assert.equal(network({ settled: false }), "False NotSet");
  assert.equal(network({ settled: false, status: held("AsWanted") }), "False Changed");
  assert.equal(network({ settled: false, status: held("TakenOver") }), "True TakenOver");
  assert.equal(shown({ node: ready }).NetworkReady, undefined);
  assert.equal(network({ machine: building, status: booted(1), node: undefined as never }), undefined);
  assert.equal(shown({ spec, node: ready, settled: false }).Ready, "False NetworkNotSet");
});

test("H7 a Node of a stranger is a conflict until the name is free", () => {
  const stranger = shown({ node: { ...ready, stranger: true } });
  assert.deepEqual([stranger.NodeConflict, stranger.Ready], ["True NameTaken", "False NodeMissing"]);
  const conditions = [{ ...stalled, type: "NodeConflict", reason: "NameTaken" }];
  assert.equal(shown({ status: { ...JOINED, conditions }, node: ready }).NodeConflict, "False NameFree");
  assert.equal(shown({ node: ready }).NodeConflict, undefined);
});

test("a machine that is given up says why as its readiness, before and after that is written down", () => {
  assert.equal(shown({ machine: "gone" }).Ready, "False MachineGone");
  const failure = { reason: "JoinTimeout", message: "no Ready Node", at: AT };
  assert.equal(shown({ status: { ...JOINED, failure }, node: ready }).Ready, "False JoinTimeout");
});

test("a Node is remembered with its uid, since when it is joined, and the Machine that Harvester made for it", () => {
  assert.equal(plan({ status: booted(1) }).status.node, undefined);
  assert.deepEqual(plan({ status: booted(1), node: { ready: "False", since: T0 } }).status.node, { uid: "n-1" });
  assert.deepEqual(plan({ status: booted(1), node: ready }).status.node, { uid: "n-1", joined: AT });
  const held = { uid: "n-0", joined: "2025-12-01T00:00:00.000Z", machine: "fleet-local/m" };
  assert.deepEqual(plan({ status: { ...JOINED, node: held }, node: ready }).status.node, { ...held, uid: "n-1" });
  assert.deepEqual(plan({ status: { ...JOINED, node: held } }).status.node, held);
});

test("what a machine on its way does just now is the reason why it is not Ready", () => {
  const spec = { networkingConfiguration: { type: "hybrid" } };
  assert.equal(shown({ spec, status: booted(1), settled: false }).Ready, "False SettingNetwork");
  assert.equal(shown({ spec: { installMode: "TwoPass" }, status: booted(1) }).Ready, "False Reinstalling");
});
