import assert from "node:assert/strict";
import { test } from "node:test";
import type { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Journal } from "../../machines/lifecycle.ts";
import { aMachine } from "../../machines/testing.ts";
import { told } from "../infrastructure/conditions.ts";
import { claimOf } from "./claim.ts";
import { type MachineView, pausedFields, planMachine } from "./machine-plan.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const NOW = Date.UTC(2026, 0, 1);
const BEFORE = "2025-12-31T23:00:00Z";
const POLL = 15_000;
const GATE = { reason: "WaitingForBootstrapData", what: "the Machine's bootstrap data" };
const PENDING = { attempt: 1, at: NOW - 5_000, state: "Pending" as const, placement: 0 };

const journal = (more: Partial<Journal> = {}): Journal => ({
  ...{ machineId: undefined, purchase: undefined, boot: undefined, signals: {} },
  ...{ runningSince: undefined, joined: false, networkSet: true },
  ...more,
});

function plan(
  view: Partial<MachineView> & { spec?: Partial<PacketMachine["spec"]>; status?: PacketMachine["status"] } = {},
) {
  const { spec, status, ...more } = view;
  const machine = aPacketMachine(spec, status);
  const names = { namespace: "shop", cluster: "c1", machine: "worker-1" };
  const wanted = {
    machine,
    cluster: aPacketCluster({ metro: "da" }),
    names,
    isControlPlane: false,
    failureDomain: undefined,
  };
  return planMachine({
    ...{ machine, claim: claimOf(wanted, POLL), journal: journal(), sight: undefined, gate: undefined },
    ...{ named: true, now: NOW },
    ...more,
  });
}
const instance = ({ status }: ReturnType<typeof plan>) => {
  const found = status.conditions?.find(({ type }) => type === "InstanceReady") as { severity?: string } & NonNullable<
    typeof status.conditions
  >[number];
  return [found.status, found.reason, found.severity, found.message];
};
const running = (more: Partial<Parameters<typeof aMachine>[0]> = {}) => aMachine(more);
const handedOver = journal({ machineId: "m-1", purchase: { ...PENDING, state: "Done" }, runningSince: NOW - 1_000 });

test("A1 nothing is ordered behind a gate, and the status says what is waited for", () => {
  const gated = plan({ gate: GATE });
  assert.deepEqual(gated.step, { do: "wait", for: GATE.what, recheckMs: 60_000 });
  assert.deepEqual(instance(gated), ["False", GATE.reason, "Info", `waiting for ${GATE.what}`]);
  assert.equal(gated.status.waitingFor, GATE.what);
  const open = plan();
  assert.deepEqual(open.step, { do: "order", attempt: 1, placement: 0 });
  assert.deepEqual(instance(open), ["False", "InstanceProvisionStarted", "Info", "the machine is being ordered"]);
});

test("B35 an order without an answer is looked for behind a gate, too, but not repeated there", () => {
  assert.equal(plan({ gate: GATE, journal: journal({ purchase: PENDING }) }).step.do, "look");
  const old = plan({ gate: GATE, journal: journal({ purchase: { ...PENDING, at: NOW - 60_000 } }) });
  assert.deepEqual([old.step.do, old.status.waitingFor], ["wait", GATE.what]);
  const refused = plan({ gate: GATE, journal: journal({ purchase: { ...PENDING, state: "Refused" } }) });
  assert.equal(refused.step.do === "wait" && refused.step.for, GATE.what);
});

test("a refused order is a warning that says so until there is capacity", () => {
  const refused = plan({ journal: journal({ purchase: { ...PENDING, state: "Refused" } }) });
  assert.deepEqual(instance(refused), ["False", "NoCapacity", "Warning", "waiting for capacity at the provider"]);
});

test("B2 a machine that is handed over is ready once its providerID is written, and stays provisioned", () => {
  const there = plan({ sight: running(), journal: handedOver });
  assert.deepEqual(instance(there), ["True", "InstanceReady", undefined, ""]);
  assert.deepEqual(
    [there.status.ready, there.status.initialization, there.status.observedGeneration],
    [true, { provisioned: true }, 3],
  );
  const unnamed = plan({ sight: running(), journal: handedOver, named: false });
  assert.deepEqual([unnamed.status.ready, unnamed.status.initialization], [false, undefined]);
  assert.equal(instance(unnamed)[1], "InstanceProvisionStarted");
  const stopped = plan({
    sight: running({ phase: "stopped" }),
    journal: handedOver,
    status: { initialization: { provisioned: true } },
  });
  assert.deepEqual([stopped.status.ready, stopped.status.initialization], [false, { provisioned: true }]);
});

test("B2 the condition Ready says what InstanceReady says", () => {
  for (const made of [plan(), plan({ sight: running(), journal: handedOver })]) {
    const [one, other] = ["InstanceReady", "Ready"].map((name) =>
      made.status.conditions?.find(({ type }) => type === name),
    );
    assert.deepEqual({ ...one, type: "" }, { ...other, type: "" });
  }
});

test("B2 the status has what the provider says: id, state, addresses, metro, and whether it may be taken back", () => {
  const addresses = [
    { address: "203.0.113.5", family: 4 as const, public: true, management: true },
    { address: "10.0.0.5", family: 4 as const, public: false, management: true },
  ];
  const { status } = plan({ sight: running({ addresses }), journal: handedOver });
  assert.deepEqual(
    [status.instanceID, status.instanceState, status.instanceStatus, status.failureDomain, "interruptible" in status],
    ["m-1", "active", "active", "sg", false],
  );
  assert.deepEqual(status.addresses, [
    { type: "Hostname", address: "worker-1" },
    { type: "ExternalIP", address: "203.0.113.5" },
    { type: "InternalIP", address: "10.0.0.5" },
  ]);
  const spot = plan({ sight: running({ metro: undefined }), journal: handedOver, spec: { spot: {} } }).status;
  assert.deepEqual([spot.interruptible, "failureDomain" in spot], [true, false]);
  assert.ok(!("instanceID" in plan().status));
});

test("each state of a machine that is not in service is a reason, and the ones that need somebody are no Info", () => {
  const of = (phase: "building" | "stopped" | "releasing" | "failed", providerState: string) =>
    instance(plan({ sight: running({ phase, providerState }), journal: { ...handedOver, runningSince: undefined } }));
  assert.deepEqual(of("building", "queued").slice(1, 3), ["InstanceProvisionStarted", "Info"]);
  assert.match(String(of("building", "queued")[3]), /^waiting for the provider to hand over the machine \(queued\)$/);
  assert.deepEqual(of("stopped", "inactive"), ["False", "InstanceStopped", "Warning", "machine m-1 is inactive"]);
  assert.deepEqual(of("releasing", "deprovisioning").slice(1, 3), ["InstanceTerminated", "Error"]);
  assert.deepEqual(of("failed", "failed").slice(1, 3), ["InstanceProvisionFailed", "Error"]);
});

test("a machine that the provider does not know any more is given up, by the original's word", () => {
  const gone = plan({ sight: "gone", journal: handedOver });
  assert.deepEqual(gone.step, {
    do: "giveUp",
    reason: "MachineGone",
    message: "the provider does not know the machine any more",
  });
  assert.deepEqual(instance(gone).slice(0, 3), ["False", "InstanceNotFound", "Error"]);
  assert.ok(!("instanceID" in gone.status));
});

test("a machine that failed is left as it is until its Machine is replaced, and keeps its reason", () => {
  for (const [reason, shown] of [
    ["MachineGone", "InstanceNotFound"],
    ["MachineTakenBack", "InstanceTerminated"],
    ["MachineFailed", "InstanceProvisionFailed"],
  ] as const) {
    const failed = plan({
      status: { failureReason: reason, failureMessage: "why" },
      sight: running(),
      journal: handedOver,
    });
    assert.deepEqual(failed.step, { do: "wait", for: "its Machine to be replaced", recheckMs: 2 * POLL });
    assert.deepEqual(instance(failed), ["False", shown, "Error", "why"]);
  }
});

test("the wait has its deadline while the machine is built, none while it is waited for without end, and ends once it has joined", () => {
  const building = plan({ sight: running({ phase: "building" }), journal: { ...handedOver, runningSince: undefined } });
  assert.equal(building.status.deadline, "2026-01-01T00:29:55.000Z");
  const joining = plan({ sight: running(), journal: handedOver });
  assert.deepEqual([joining.step.do, joining.status.deadline], ["wait", undefined]);
  assert.ok(joining.status.waitingFor);
  const joined = plan({
    sight: running(),
    journal: { ...handedOver, joined: true },
    status: { waitingFor: "x", waitingSince: BEFORE },
  });
  assert.deepEqual([joined.status.waitingFor, joined.status.waitingSince], [undefined, undefined]);
});

const STALLED = told(
  undefined,
  { type: "Stalled", status: true, reason: "Invalid", message: "no such plan" },
  { now: NOW, observedGeneration: 3 },
);

test("B34 what prevents the order is the reason and the wait until it is out of the way", () => {
  const status = { conditions: STALLED, waitingFor: "no such plan", waitingSince: BEFORE };
  const held = plan({ status });
  assert.deepEqual(instance(held), ["False", "InstanceProvisionFailed", "Warning", "no such plan"]);
  assert.deepEqual([held.status.waitingFor, held.status.waitingSince], ["no such plan", BEFORE]);
  const gone = plan({ status, sight: "gone", journal: handedOver });
  assert.equal(gone.status.waitingFor, undefined);
  const old = plan({ status: { ...status, conditions: [{ ...STALLED[0]!, status: "False" }] } });
  assert.equal(old.status.waitingFor, undefined);
});

test("A3 a pause is what is waited for, since when it began", () => {
  const why = "the object to be unpaused";
  const first = pausedFields({ waitingFor: "x", waitingSince: BEFORE }, STALLED, NOW, why);
  assert.deepEqual(first, {
    conditions: STALLED,
    waitingFor: why,
    waitingSince: "2026-01-01T00:00:00.000Z",
    deadline: undefined,
  });
  assert.equal(pausedFields({ waitingFor: why, waitingSince: BEFORE }, STALLED, NOW, why).waitingSince, BEFORE);
});
