import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionOf } from "@slipway/kube";
import { ago, deployment, is, machine, machineSet, machineSpec, NOW } from "../testing.ts";
import { type DeploymentFacts, deploymentStatus } from "./machine-deployment-status.ts";
import { paceOf, portionOf, resolveInFlight } from "./portions.ts";
import { differencesOf, makeSameMachines } from "./template-equality.ts";

const statusOf = (of: Partial<DeploymentFacts> = {}) =>
  deploymentStatus({ deployment: deployment(), sets: [], current: undefined, machines: [], now: NOW, ...of });
const said = (of: Partial<DeploymentFacts>, type: string) => {
  const { status, reason, message } = conditionOf(statusOf(of).conditions, type)!;
  return [status, reason, message];
};
const old = (of: Partial<DeploymentFacts>, type: string) => {
  const { status, reason } = conditionOf(statusOf(of).deprecated?.v1beta1?.conditions, type)!;
  return [status, reason];
};
const counting = (name: string, available: number, more: object = {}) =>
  machineSet(name, {
    status: {
      ...{ replicas: available, readyReplicas: available, availableReplicas: available, upToDateReplicas: available },
      ...more,
    },
  });

test("a MachineDeployment counts what its sets count", () => {
  const [one, other] = [counting("a", 2), counting("b", 1, { replicas: 2, upToDateReplicas: 0 })];
  const status = statusOf({
    ...{ deployment: deployment({ metadata: { generation: 7 }, spec: { selector: { matchLabels: { a: "b" } } } }) },
    ...{ sets: [one, other, machineSet("new")], current: one },
  });
  assert.deepEqual(
    [status.replicas, status.readyReplicas, status.availableReplicas, status.upToDateReplicas],
    [4, 3, 3, 2],
  );
  assert.deepEqual([status.selector, status.observedGeneration, status.phase], ["a=b", 7, "ScalingDown"]);
  const { conditions: _, ...before } = status.deprecated!.v1beta1!;
  assert.deepEqual(before, {
    ...{ readyReplicas: 3, availableReplicas: 3, updatedReplicas: 2, unavailableReplicas: 0 },
  });
  assert.equal(statusOf().deprecated?.v1beta1?.unavailableReplicas, 3);
});

test("its phase and both conditions of scaling are by the Machines that there are and that are wanted", () => {
  const phases = [2, 3, 4].map((count) => statusOf({ sets: [counting("a", count)] }).phase);
  assert.deepEqual(phases, ["ScalingUp", "Running", "ScalingDown"]);
  const why = is("ScalingUp", "True", { message: "Scaling up from 2 to 3\n* no host\n* paused" });
  const few = { sets: [counting("a", 2, { conditions: [why] }), counting("b", 0)] };
  assert.deepEqual(said(few, "ScalingUp"), [
    ...["True", "ScalingUp", "Scaling up from 2 to 3 replicas\n* MachineSet a: no host paused"],
  ]);
  assert.deepEqual(said(few, "ScalingDown"), ["False", "NotScalingDown", ""]);
  const going = { sets: [counting("a", 1)], deployment: deployment({ metadata: { deletionTimestamp: ago(1) } }) };
  assert.deepEqual(said(going, "ScalingDown"), ["True", "ScalingDown", "Scaling down from 1 to 0 replicas"]);
  assert.deepEqual(said(going, "Deleting"), ["True", "Deleting", "Deleting 1 MachineSets"]);
  assert.deepEqual(said({}, "Deleting"), ["False", "NotDeleting", ""]);
});

for (const [what, strategy, least] of [
  ["all but what may be missing", { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } }, 2],
  ["all, where none may", undefined, 3],
  ["all, where Machines are replaced by hand", { type: "OnDelete", rollingUpdate: { maxUnavailable: 2 } }, 3],
  ["none, where all may", { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 9 } }, 0],
] as const)
  test(`a MachineDeployment is available with ${what}`, () => {
    const of = (count: number) => ({
      deployment: deployment({ spec: { ...(strategy && { rollout: { strategy } }) } }),
      sets: [counting("a", count)],
    });
    assert.deepEqual(said(of(least), "Available"), ["True", "Available", ""]);
    assert.deepEqual([old(of(least), "Available")[0], old(of(least), "Ready")[0]], ["True", "True"]);
    if (least === 0) return;
    const message = `${least - 1} available replicas, at least ${least} required (spec.replicas is 3)`;
    assert.deepEqual(said(of(least - 1), "Available"), ["False", "NotAvailable", message]);
    const waits = ["False", "WaitingForAvailableMachines"];
    assert.deepEqual([old(of(least - 1), "Available"), old(of(least - 1), "Ready")], [waits, waits]);
  });

test("the old condition of sets is True once there are as many Machines as are wanted", () => {
  const waits = ["False", "WaitingForMachineSet"];
  assert.deepEqual(old({}, "MachineSetReady"), waits);
  assert.deepEqual(old({ sets: [counting("a", 2)] }, "MachineSetReady"), waits);
  assert.equal(old({ sets: [counting("a", 3)] }, "MachineSetReady")[0], "True");
  const none = { deployment: deployment({ spec: { replicas: 0 } }) };
  assert.deepEqual(old(none, "MachineSetReady"), waits, "there is no set yet");
});

test("Machines are summed up by their conditions; one that is new need not say yet whether it is up to date", () => {
  assert.deepEqual(said({}, "MachinesReady"), ["True", "NoReplicas", ""]);
  const made = (seconds: number, ...conditions: ReturnType<typeof is>[]) =>
    machine("m", { metadata: { creationTimestamp: ago(seconds) }, status: { conditions } });
  const upToDate = (one: ReturnType<typeof made>) => said({ machines: [one] }, "MachinesUpToDate").slice(0, 2);
  assert.deepEqual(upToDate(made(9)), ["True", "NoReplicas"]);
  assert.deepEqual(upToDate(made(10)), ["Unknown", "UpToDateUnknown"]);
  assert.deepEqual(upToDate(made(9, is("UpToDate", "False"))), ["False", "NotUpToDate"]);
  assert.deepEqual(said({ machines: [made(9)] }, "MachinesReady").slice(0, 2), ["Unknown", "ReadyUnknown"]);
  assert.deepEqual(said({ machines: [made(9, is("Ready", "True"))] }, "MachinesReady").slice(0, 2), ["True", "Ready"]);
});

test("a roll-out names what differs, each line once", () => {
  const outdated = (name: string, message: string) =>
    machine(name, { status: { conditions: [is("UpToDate", "False", { message })] } });
  const machines = [
    outdated("a", "* Version v1, v2 required"),
    outdated("b", "* Version v1, v2 required\n* Failure domain"),
  ];
  assert.deepEqual(said({ machines }, "RollingOut"), [
    ...["True", "RollingOut", "Rolling out 2 not up-to-date replicas\n* Failure domain\n* Version v1, v2 required"],
  ]);
  assert.deepEqual(said({ machines: [machine("c")] }, "RollingOut"), ["False", "NotRollingOut", ""]);
});

test("what its sets remediate it remediates", () => {
  assert.deepEqual(said({}, "Remediating"), ["False", "NotRemediating", ""]);
  const by = (status: "True" | "False") => ({ sets: [counting("a", 3, { conditions: [is("Remediating", status)] })] });
  assert.deepEqual(said(by("True"), "Remediating").slice(0, 2), ["True", "Remediating"]);
  assert.deepEqual(said(by("False"), "Remediating").slice(0, 2), ["False", "NotRemediating"]);
});

test("a portion is a number or a percentage, which is rounded as it is asked for", () => {
  assert.deepEqual([portionOf(2, 10, "up"), portionOf("2", 10, "up"), portionOf("x", 10, "up")], [2, 2, 0]);
  assert.deepEqual([portionOf("25%", 3, "up"), portionOf("25%", 3, "down"), portionOf("50%", 4, "up")], [1, 0, 2]);
  assert.deepEqual(paceOf(undefined, 3), { maxSurge: 1, maxUnavailable: 0 });
  assert.deepEqual(paceOf({ maxSurge: "34%", maxUnavailable: "34%" }, 3), { maxSurge: 2, maxUnavailable: 1 });
  assert.deepEqual(paceOf({ maxSurge: 0, maxUnavailable: 9 }, 3), { maxSurge: 0, maxUnavailable: 3 });
  assert.deepEqual(paceOf({ maxSurge: 0, maxUnavailable: "10%" }, 3), { maxSurge: 0, maxUnavailable: 1 });
  assert.deepEqual(paceOf({ maxSurge: 1, maxUnavailable: 0 }, 0), { maxSurge: 1, maxUnavailable: 0 });
  assert.deepEqual([resolveInFlight(undefined, 3), resolveInFlight("34%", 3)], [Number.POSITIVE_INFINITY, 2]);
});

test("templates make other Machines where what can't change in place differs, and each difference is named", () => {
  const ref = (name: string) => ({ apiGroup: "g", kind: "K", name });
  const base = machineSpec({ version: "v1", infrastructureRef: ref("i"), bootstrap: { configRef: ref("b") } });
  const differ = (of: object) => {
    const other = { ...base, ...of } as typeof base;
    assert.equal(makeSameMachines(base, other), differencesOf(base, other).length === 0);
    return differencesOf(base, other);
  };
  assert.deepEqual(differ({ nodeDrainTimeoutSeconds: 9 }), []);
  assert.deepEqual(differ({ bootstrap: { configRef: ref("b"), dataSecretName: "made of it" } }), []);
  assert.deepEqual(differ({ version: "v2" }), ["* Version v1, v2 required"]);
  assert.deepEqual(differ({ version: undefined }), ["* Version is not up-to-date"]);
  assert.deepEqual(differ({ failureDomain: "r1" }), ["* Failure domain is not up-to-date"]);
  assert.deepEqual(differ({ bootstrap: { dataSecretName: "d" } }), ["* BootstrapConfig is not up-to-date"]);
  assert.deepEqual(differ({ bootstrap: { configRef: ref("c") }, infrastructureRef: ref("j") }), [
    ...["* BootstrapConfig is not up-to-date", "* InfrastructureMachine is not up-to-date"],
  ]);
});
