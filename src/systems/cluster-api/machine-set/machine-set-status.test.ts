import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { ago, is, machine, machineSet, NOW } from "../testing.ts";
import { type MachineSetFacts, machineSetStatus, toBeRemediated } from "./machine-set-status.ts";

const facts = (of: Partial<MachineSetFacts> = {}): MachineSetFacts => ({
  ...{ set: machineSet("s"), machines: [], obstacles: [], failure: undefined, now: NOW },
  ...of,
});
const having = (name: string, conditions: ReturnType<typeof is>[], of: object = {}) =>
  machine(name, { status: { conditions }, ...of });
const said = (of: Partial<MachineSetFacts>, type: string) => {
  const { status, reason, message } = conditionOf(machineSetStatus(facts(of)).conditions, type)!;
  return [status, reason, message];
};
const old = (of: Partial<MachineSetFacts>, type: string) => {
  const { status, reason, severity } = conditionOf(machineSetStatus(facts(of)).deprecated?.v1beta1?.conditions, type)!;
  return [status, reason, severity];
};
const good = [is("Ready", "True"), is("Available", "True"), is("UpToDate", "True")];

test("Machines are counted by their conditions and by their versions, the lowest first", () => {
  const labels = { tier: "web" };
  const set = machineSet("s", {
    metadata: { generation: 7 },
    spec: {
      replicas: 3,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels }, spec: machine("m").spec },
    },
  });
  const status = machineSetStatus(
    facts({
      set,
      machines: [
        having("a", good, { metadata: { labels }, spec: { version: "v1.36.10" } }),
        having("b", good.slice(0, 1), { spec: { version: "v1.36.9" } }),
        having("c", [], { spec: { version: "v1.36.9" } }),
        having("d", []),
      ],
    }),
  );
  const { replicas, readyReplicas, availableReplicas, upToDateReplicas } = status;
  assert.deepEqual([replicas, readyReplicas, availableReplicas, upToDateReplicas], [4, 2, 1, 1]);
  assert.deepEqual(status.versions, [
    { version: "v1.36.9", replicas: 2 },
    { version: "v1.36.10", replicas: 1 },
  ]);
  assert.deepEqual([status.selector, status.observedGeneration], ["a=b", 7]);
  assert.equal(status.deprecated?.v1beta1?.fullyLabeledReplicas, 1);
  assert.ok(status.conditions?.every(({ observedGeneration }) => observedGeneration === 7));
  assert.equal(machineSetStatus(facts()).versions, undefined);
});

test("a set that scales up says by how many, and what is in its way", () => {
  const few = { machines: [having("a", good)] };
  assert.deepEqual(said(few, "ScalingUp"), ["True", "ScalingUp", "Scaling up from 1 to 3 replicas"]);
  assert.deepEqual(said({ ...few, obstacles: ["plane is upgrading"], failure: "no template" }, "ScalingUp"), [
    "True",
    "ScalingUp",
    "Scaling up from 1 to 3 replicas is blocked because:\n* plane is upgrading\n* no template",
  ]);
  const enough = { machines: ["a", "b", "c"].map((name) => having(name, good)) };
  assert.deepEqual(said(enough, "ScalingUp"), ["False", "NotScalingUp", ""]);
  assert.deepEqual(said(enough, "ScalingDown"), ["False", "NotScalingDown", ""]);
});

test("a set that scales down, or is deleted, says how many Machines are leaving", () => {
  const leaving = having("a", good, { metadata: { deletionTimestamp: ago(1) } });
  const many = [leaving, ...["b", "c", "d"].map((name) => having(name, good))];
  assert.deepEqual(said({ machines: many }, "ScalingDown"), [
    "True",
    "ScalingDown",
    "Scaling down from 4 to 3 replicas\n* 1 Machines are being deleted",
  ]);
  assert.equal(said({ machines: many.slice(1).concat(having("e", good)) }, "ScalingDown")[2]?.includes("\n"), false);
  const set = machineSet("s", { metadata: { deletionTimestamp: ago(1) } });
  assert.deepEqual(
    said({ set, machines: [leaving] }, "ScalingDown")[2],
    "Scaling down from 1 to 0 replicas\n* 1 Machines are being deleted",
  );
  assert.deepEqual(said({ set, machines: [leaving] }, "ScalingUp")[0], "False");
  assert.deepEqual(said({ set, machines: [leaving] }, "Deleting"), ["True", "Deleting", "Deleting 1 Machines"]);
  assert.deepEqual(said({ machines: [] }, "Deleting"), ["False", "NotDeleting", ""]);
});

test("a Machine younger than ten seconds need not say whether it is up to date", () => {
  const young = (seconds: number) => ({
    machines: [having("a", [], { metadata: { creationTimestamp: ago(seconds) } })],
  });
  assert.deepEqual(said(young(9), "MachinesUpToDate"), ["True", "NoReplicas", ""]);
  assert.deepEqual(said(young(10), "MachinesUpToDate").slice(0, 2), ["Unknown", "UpToDateUnknown"]);
  assert.deepEqual(said(young(9), "MachinesReady").slice(0, 2), ["Unknown", "ReadyUnknown"]);
  assert.deepEqual(said({}, "MachinesReady"), ["True", "NoReplicas", ""]);
  assert.deepEqual(said({ machines: [having("a", [is("UpToDate", "False")])] }, "MachinesUpToDate").slice(0, 2), [
    "False",
    "NotUpToDate",
  ]);
});

test("Machines are replaced where the health check failed and nobody has replaced them yet", () => {
  const sick = having("b", [is("HealthCheckSucceeded", "False"), is("OwnerRemediated", "False")]);
  const done = having("c", [is("HealthCheckSucceeded", "False"), is("OwnerRemediated", "True")]);
  const well = having("d", [is("HealthCheckSucceeded", "True"), is("OwnerRemediated", "False")]);
  assert.deepEqual(toBeRemediated([sick, done, well]), [sick]);
  const other = having("a", sick.status!.conditions!);
  assert.deepEqual(said({ machines: [sick, done, well, other] }, "Remediating"), [
    "True",
    "Remediating",
    "Machines to be replaced: a, b",
  ]);
  assert.deepEqual(
    said({ machines: [sick], obstacles: ["plane is upgrading"] }, "Remediating")[2],
    "Machines to be replaced: b; waits for: plane is upgrading",
  );
  assert.deepEqual(said({ machines: [done] }, "Remediating"), ["False", "NotRemediating", ""]);
});

test("conditions of v1beta1 say what failed, what is not ready and in which direction it scales", () => {
  const three = (conditions: ReturnType<typeof is>[]) => ["a", "b", "c"].map((name) => having(name, conditions));
  assert.deepEqual(old({ failure: "no" }, "MachinesCreated"), ["False", "MachineCreationFailed", "Error"]);
  assert.deepEqual(old({ machines: three(good) }, "MachinesCreated")[0], "True");
  assert.deepEqual(old({ machines: three(good) }, "Resized")[0], "True");
  assert.deepEqual(old({ machines: three(good) }, "Ready")[0], "True");
  assert.deepEqual(old({ machines: three([]) }, "MachinesReady"), ["False", "MachinesNotReady", "Info"]);
  assert.deepEqual(old({ machines: three([]) }, "Ready"), ["False", "NotReady", "Info"]);
  assert.deepEqual(old({ machines: three(good).slice(1) }, "Resized"), ["False", "ScalingUp", "Warning"]);
  assert.deepEqual(old({ machines: three(good).slice(1) }, "Ready"), ["False", "NotReady", "Info"]);
  assert.deepEqual(old({ machines: [...three(good), having("d", good)] }, "Resized"), [
    "False",
    "ScalingDown",
    "Warning",
  ]);
});
