import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import { ago, deployment, is, machine, machineSet, machineSpec, NOW } from "../testing.ts";
import { type DeploymentFacts, deploymentStatus } from "./machine-deployment-status.ts";
import { annotationsOf, byAge, currentSet, newSet, nextRevision, revisionOf, setPatch } from "./sets.ts";

const sized = (name: string, replicas: number, of: Parameters<typeof machineSet>[1] = {}) => {
  const set = machineSet(name, of);
  return { ...set, spec: { ...set.spec, replicas } };
};
const revised = (name: string, revision: number) =>
  machineSet(name, { metadata: { annotations: { [ANNOTATIONS.revision]: String(revision) } } });

test("the current set makes the Machines that are wanted: the largest, then the oldest, then by name", () => {
  const wanted = deployment({ template: { version: "v2" } });
  const of = { template: { version: "v2" } };
  const name = (...sets: ReturnType<typeof sized>[]) => currentSet(wanted, sets, NOW)?.metadata.name;
  assert.equal(name(sized("other", 9), sized("a", 1, of), sized("b", 2, of)), "b");
  assert.equal(name(sized("new", 1, { ...of, metadata: { creationTimestamp: ago(5) } }), sized("old", 1, of)), "old");
  assert.equal(name(sized("b", 1, of), sized("a", 1, of)), "a");
  assert.equal(name(sized("a", 1, { ...of, metadata: { deletionTimestamp: ago(1) } })), undefined);
  const renewed = deployment({ template: { version: "v2" }, spec: { rollout: { after: ago(60) } } });
  assert.equal(currentSet(renewed, [sized("a", 1, of)], NOW), undefined);
});

test("sets are ordered by age, and by name where they are of one age", () => {
  const young = machineSet("a", { metadata: { creationTimestamp: ago(1) } });
  const names = [young, machineSet("c"), machineSet("b")].toSorted(byAge).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ["b", "c", "a"]);
});

test("the current set's revision is above all others', and stays where it is", () => {
  assert.equal(revisionOf(machineSet("s")), 0);
  assert.equal(nextRevision(undefined, []), 1);
  assert.equal(nextRevision(undefined, [revised("a", 3), revised("b", 2)]), 4);
  const current = revised("c", 5);
  assert.equal(nextRevision(current, [current, revised("a", 3)]), 5);
  assert.equal(nextRevision(current, [current, revised("a", 5)]), 6);
});

test("a set knows how many Machines its deployment wants and may have; users' annotations come along", () => {
  const of = (spec: object, annotations = {}) => annotationsOf(deployment({ metadata: { annotations }, spec }), 4);
  assert.deepEqual(
    of({}, { note: "x", [ANNOTATIONS.revision]: "9", "kubectl.kubernetes.io/last-applied-configuration": "{}" }),
    {
      note: "x",
      [ANNOTATIONS.revision]: "4",
      [ANNOTATIONS.desiredReplicas]: "3",
      [ANNOTATIONS.maxReplicas]: "4",
    },
  );
  assert.equal(of({ rollout: { strategy: { type: "OnDelete" } } })[ANNOTATIONS.maxReplicas], "3");
});

test("a new set selects its own Machines, and its name has room for what makes it distinct", () => {
  const spec = {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: machineSpec() },
    ...{ deletion: { order: "Oldest" }, machineNaming: { template: "x" } },
  };
  const made = newSet(deployment({ spec }), { unique: "x7", replicas: 2, revision: 3 });
  assert.equal(made.metadata.name, "berth-x7");
  assert.deepEqual(made.spec.selector, { matchLabels: { a: "b", [LABELS.templateHash]: "x7" } });
  const labels = { a: "b", [LABELS.deploymentName]: "berth", [LABELS.templateHash]: "x7" };
  assert.deepEqual(made.spec.template.metadata.labels, labels);
  assert.deepEqual(made.metadata.labels, { ...labels, [LABELS.clusterName]: "quay" });
  assert.deepEqual(
    [made.spec.replicas, made.spec.deletion, made.spec.machineNaming],
    [2, spec.deletion, spec.machineNaming],
  );
  assert.equal(made.metadata.ownerReferences[0]?.controller, true);
  const bare = newSet(deployment({ metadata: { name: "n".repeat(70) } }), { unique: "x7", replicas: 0, revision: 1 });
  assert.deepEqual([bare.metadata.name.length, bare.metadata.name.endsWith("n-x7")], [63, true]);
  assert.deepEqual(["deletion" in bare.spec, "machineNaming" in bare.spec], [false, false]);
});

/** A set as `newSet` makes it, and what is to be changed of it. */
function patched(spec: object, of: { held?: object; isCurrent?: boolean; isOff?: boolean; replicas?: number }) {
  const rules = { isCurrent: of.isCurrent ?? true, revision: 1, replicas: of.replicas, isOff: of.isOff ?? false };
  const made = newSet(deployment({ spec: { ...of.held } }), { unique: "x7", replicas: 3, revision: 1 });
  return setPatch(machineSet("s", made as object), deployment({ spec }), rules);
}
const templated = (metadata: object, spec: object = {}) => ({ template: { metadata, spec: machineSpec(spec) } });

test("a set that is as its deployment is not patched, and its size is when it is given", () => {
  assert.equal(patched({}, {}), undefined);
  assert.deepEqual(patched({}, { replicas: 0 }), { spec: { replicas: 0 } });
});

test("what reaches Machines in place reaches every set; labels and annotations only the current one", () => {
  const inPlace = templated({ labels: { a: "b" }, annotations: { note: "x" } }, { minReadySeconds: 5 });
  assert.deepEqual(patched(inPlace, { isCurrent: false }), { spec: { template: { spec: { minReadySeconds: 5 } } } });
  const labels = { a: "b", [LABELS.deploymentName]: "berth", [LABELS.templateHash]: "x7" };
  assert.deepEqual(patched(inPlace, {}), {
    spec: { template: { metadata: { labels, annotations: { note: "x" } }, spec: { minReadySeconds: 5 } } },
  });
  assert.deepEqual(patched({}, { held: templated({ labels: { a: "b" } }) }), {
    spec: {
      template: { metadata: { labels: { [LABELS.deploymentName]: "berth", [LABELS.templateHash]: "x7", a: null } } },
    },
  });
});

test("names and the order of deletion follow the deployment, also when they are taken away", () => {
  const extra = { deletion: { order: "Oldest" }, machineNaming: { template: "x" } };
  assert.deepEqual(patched(extra, {}), { spec: extra });
  assert.deepEqual(patched({}, { held: extra }), { spec: { deletion: null, machineNaming: null } });
});

test("a set that must make no Machines is marked so, and the mark goes again", () => {
  assert.deepEqual(patched({}, { isOff: true }), {
    metadata: { annotations: { [ANNOTATIONS.disableMachineCreate]: "true" } },
  });
  const marked = machineSet("s", {
    metadata: { annotations: { ...annotationsOf(deployment(), 1), [ANNOTATIONS.disableMachineCreate]: "true" } },
  });
  const rules = { isCurrent: false, revision: 9, replicas: undefined, isOff: false };
  assert.deepEqual(setPatch(marked, deployment(), rules), {
    metadata: { annotations: { [ANNOTATIONS.disableMachineCreate]: null } },
  });
});

test("a set that lost its annotations gets them again, and an old one keeps its revision", () => {
  const rules = { revision: 4, replicas: undefined, isOff: false };
  const of = (isCurrent: boolean) =>
    (setPatch(machineSet("s"), deployment(), { ...rules, isCurrent }) as { metadata: { annotations: object } })
      .metadata;
  assert.deepEqual(of(true).annotations, annotationsOf(deployment(), 4));
  assert.deepEqual(of(false).annotations, annotationsOf(deployment(), 0));
});

const facts = (of: Partial<DeploymentFacts> = {}): DeploymentFacts => ({
  ...{ deployment: deployment(), sets: [], current: undefined, machines: [], now: NOW },
  ...of,
});
const said = (of: Partial<DeploymentFacts>, type: string) => {
  const { status, reason, message } = conditionOf(deploymentStatus(facts(of)).conditions, type)!;
  return [status, reason, message];
};
const counts = (replicas: number, availableReplicas = replicas) =>
  machineSet("s", { status: { replicas, readyReplicas: replicas, availableReplicas, upToDateReplicas: 1 } });

test("a deployment's counters are the sums of its sets', and its phase says in which direction they go", () => {
  const current = counts(1, 0);
  const status = deploymentStatus(
    facts({
      sets: [counts(2), current, machineSet("new")],
      current,
      machines: [machine("m", { spec: { version: "v1" } })],
      deployment: deployment({ metadata: { generation: 6 } }),
    }),
  );
  const { replicas, readyReplicas, availableReplicas, upToDateReplicas, phase } = status;
  assert.deepEqual([replicas, readyReplicas, availableReplicas, upToDateReplicas, phase], [3, 3, 2, 2, "Running"]);
  assert.deepEqual(
    [status.deprecated?.v1beta1?.updatedReplicas, status.deprecated?.v1beta1?.unavailableReplicas],
    [1, 1],
  );
  assert.deepEqual([status.versions, status.observedGeneration], [[{ version: "v1", replicas: 1 }], 6]);
  const phaseOf = (sets: DeploymentFacts["sets"], metadata = {}) =>
    deploymentStatus(facts({ sets, deployment: deployment({ metadata }) })).phase;
  assert.deepEqual([phaseOf([counts(2)]), phaseOf([counts(4)])], ["ScalingUp", "ScalingDown"]);
  assert.equal(phaseOf([counts(3)], { deletionTimestamp: ago(1) }), "ScalingDown");
});

test("a deployment is available with as many Machines as its roll-out must keep", () => {
  const available = (count: number, rollout?: object) =>
    said({ sets: [counts(count)], deployment: deployment({ spec: { rollout } }) }, "Available");
  const rolling = (rollingUpdate: object) => ({ strategy: { rollingUpdate } });
  assert.deepEqual(available(3), ["True", "Available", ""]);
  assert.deepEqual(available(2), [
    "False",
    "NotAvailable",
    "2 available replicas, at least 3 required (spec.replicas is 3)",
  ]);
  assert.equal(available(2, rolling({ maxUnavailable: 1 }))[0], "True");
  assert.equal(available(1, rolling({ maxUnavailable: 1 }))[0], "False");
  assert.equal(available(0, rolling({ maxSurge: 0, maxUnavailable: 3 }))[0], "True");
  const onDelete = { strategy: { type: "OnDelete", rollingUpdate: { maxUnavailable: 2 } } };
  assert.equal(available(2, onDelete)[0], "False");
});

test("a roll-out says how many Machines are not up to date, and each reason once", () => {
  const behind = (message: string) => machine("m", { status: { conditions: [is("UpToDate", "False", { message })] } });
  const machines = [
    behind("* b\n* a"),
    behind("* a"),
    machine("n", { status: { conditions: [is("UpToDate", "True")] } }),
  ];
  assert.deepEqual(said({ machines }, "RollingOut"), [
    "True",
    "RollingOut",
    "Rolling out 2 not up-to-date replicas\n* a\n* b",
  ]);
  assert.deepEqual(said({ machines: machines.slice(2) }, "RollingOut"), ["False", "NotRollingOut", ""]);
  const young = (seconds: number) => [machine("m", { metadata: { creationTimestamp: ago(seconds) } })];
  assert.equal(said({ machines: young(9) }, "MachinesUpToDate")[1], "NoReplicas");
  assert.equal(said({ machines: young(10) }, "MachinesUpToDate")[1], "UpToDateUnknown");
  assert.equal(said({ machines: young(9) }, "MachinesReady")[1], "ReadyUnknown");
});

test("scaling repeats what is in the sets' way", () => {
  const message = "Scaling up from 1 to 3 replicas is blocked because:\n* no template\n* plane is upgrading";
  const status = { replicas: 1, conditions: [is("ScalingUp", "True", { message })] };
  assert.deepEqual(said({ sets: [machineSet("s", { status })] }, "ScalingUp"), [
    "True",
    "ScalingUp",
    "Scaling up from 1 to 3 replicas\n* MachineSet s: no template plane is upgrading",
  ]);
  assert.deepEqual(said({ sets: [counts(4)] }, "ScalingDown")[2], "Scaling down from 4 to 3 replicas");
  assert.deepEqual(said({ sets: [counts(3)] }, "ScalingUp"), ["False", "NotScalingUp", ""]);
  assert.deepEqual(said({ sets: [counts(3)] }, "ScalingDown"), ["False", "NotScalingDown", ""]);
  const idle = machineSet("s", { status: { replicas: 1, conditions: [is("ScalingUp", "False", { message })] } });
  assert.equal(said({ sets: [idle] }, "ScalingUp")[2], "Scaling up from 1 to 3 replicas");
});

test("remediation and deletion of sets are the deployment's, too", () => {
  const sick = machineSet("s", { status: { conditions: [is("Remediating", "True", { message: "m" })] } });
  assert.deepEqual(said({ sets: [sick] }, "Remediating"), ["True", "Remediating", "* MachineSet s: m"]);
  assert.deepEqual(said({}, "Remediating"), ["False", "NotRemediating", ""]);
  const leaving = deployment({ metadata: { deletionTimestamp: ago(1) } });
  assert.deepEqual(said({ deployment: leaving, sets: [sick] }, "Deleting"), [
    "True",
    "Deleting",
    "Deleting 1 MachineSets",
  ]);
  assert.deepEqual(said({}, "Deleting"), ["False", "NotDeleting", ""]);
});

test("conditions of v1beta1 say whether the least is available and all sets are made", () => {
  const old = (sets: DeploymentFacts["sets"], type: string) => {
    const { status, reason } = conditionOf(deploymentStatus(facts({ sets })).deprecated?.v1beta1?.conditions, type)!;
    return [status, reason];
  };
  for (const type of ["Available", "Ready", "MachineSetReady"]) assert.equal(old([counts(3)], type)[0], "True", type);
  for (const type of ["Available", "Ready"])
    assert.deepEqual(old([counts(3, 2)], type), ["False", "WaitingForAvailableMachines"], type);
  assert.deepEqual(old([counts(2)], "MachineSetReady"), ["False", "WaitingForMachineSet"]);
  const none = deploymentStatus(facts({ deployment: deployment({ spec: { replicas: 0 } }) }));
  assert.equal(conditionOf(none.deprecated?.v1beta1?.conditions, "MachineSetReady")?.status, "False");
});
