import assert from "node:assert/strict";
import { test } from "node:test";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import { ago, cluster, is, machine, NOW, node } from "../testing.ts";
import { drainIsSkipped, hooksOf, nodeIsGivenUp, nodeIsLeft, volumesAreSkipped } from "./deletion-plan.ts";

const controlPlane = (name: string) => machine(name, { metadata: { labels: { [LABELS.controlPlane]: "" } } });
const worker = machine("w", { status: { nodeRef: { name: "n" } } });
const rules = {
  cluster: cluster(),
  controlPlane: { isDeleting: false, isExternallyManaged: false },
  controlPlaneMachines: [controlPlane("p")],
  node: { is: "there" as const, node: node("n") },
};

test("the Node of a Machine is left where nobody could use it any more", () => {
  assert.equal(nodeIsLeft(worker, rules), undefined);
  assert.match(nodeIsLeft(worker, { ...rules, cluster: undefined })!, /Cluster is gone/);
  const leaving = cluster({ metadata: { deletionTimestamp: ago(1) } });
  assert.match(nodeIsLeft(worker, { ...rules, cluster: leaving })!, /Cluster is being deleted/);
  const ending = { isDeleting: true, isExternallyManaged: true };
  assert.match(nodeIsLeft(worker, { ...rules, controlPlane: ending })!, /control plane is being deleted/);
});

test("a Machine without a Node has none to drain; one that was seen once, or is there, has", () => {
  const never = { ...rules, node: { is: "awaited" as const, reason: "", message: "" } };
  assert.match(nodeIsLeft(machine("w"), never)!, /no Node/);
  assert.equal(nodeIsLeft(worker, never), undefined);
  assert.equal(nodeIsLeft(machine("w"), rules), undefined);
});

test("the last Machine of a control plane keeps its Node, unless the control plane runs elsewhere", () => {
  const last = controlPlane("p");
  assert.match(nodeIsLeft(last, rules)!, /last Machine of the control plane/);
  assert.equal(nodeIsLeft(last, { ...rules, controlPlaneMachines: [last, controlPlane("q")] }), undefined);
  assert.match(nodeIsLeft(worker, { ...rules, controlPlaneMachines: [] })!, /has no Machines/);
  const hosted = { isDeleting: false, isExternallyManaged: true };
  assert.equal(nodeIsLeft(worker, { ...rules, controlPlaneMachines: [], controlPlane: hosted }), undefined);
});

test("hooks are annotations with the prefix, with or without a name", () => {
  const hook = ANNOTATIONS.preDrainHook;
  const held = machine("m", { metadata: { annotations: { [hook]: "", [`${hook}/backup`]: "x", [`${hook}s`]: "" } } });
  assert.deepEqual(hooksOf(held, hook), [hook, `${hook}/backup`]);
  assert.deepEqual(hooksOf(held, ANNOTATIONS.preTerminateHook), []);
});

test("draining ends with its time, with the machine's own end, and after the drain; 0 seconds are no limit", () => {
  const draining = (seconds: number | undefined, since: number, deletion: object = {}, annotations = {}) =>
    drainIsSkipped(
      machine("m", {
        metadata: { annotations },
        spec: { deletion: seconds === undefined ? undefined : { nodeDrainTimeoutSeconds: seconds } },
        status: { deletion: { nodeDrainStartTime: ago(since), ...deletion } },
      }),
      { isInfrastructureLeaving: false, now: NOW },
    );
  assert.deepEqual(
    [draining(60, 59), draining(60, 60), draining(0, 600), draining(undefined, 600)],
    [false, true, false, false],
  );
  assert.equal(draining(0, 1, { waitForPreTerminateHookStartTime: ago(1) }), true);
  assert.equal(draining(0, 1, {}, { [ANNOTATIONS.excludeDrain]: "" }), true);
  assert.equal(drainIsSkipped(machine("m"), { isInfrastructureLeaving: true, now: NOW }), true);
  assert.equal(drainIsSkipped(machine("m"), { isInfrastructureLeaving: false, now: NOW }), false);
});

test("volumes are waited for until their time is over, and not on a Node that nobody reaches", () => {
  const waiting = (seconds: number, since: number, of: object = {}) =>
    machine("m", {
      ...of,
      spec: { deletion: { nodeVolumeDetachTimeoutSeconds: seconds } },
      status: { deletion: { waitForNodeVolumeDetachStartTime: ago(since) } },
    });
  const reached = node("n", { status: { conditions: [is("Ready", "True")] } });
  const lost = node("n", { status: { conditions: [is("Ready", "Unknown")] } });
  assert.equal(volumesAreSkipped(waiting(60, 59), reached, NOW), false);
  assert.equal(volumesAreSkipped(waiting(60, 60), reached, NOW), true);
  assert.equal(volumesAreSkipped(waiting(60, 1), lost, NOW), true);
  assert.equal(volumesAreSkipped(waiting(60, 1), undefined, NOW), false);
  assert.equal(volumesAreSkipped(machine("m"), undefined, NOW), false);
  const marked = { metadata: { annotations: { [ANNOTATIONS.excludeVolumeWait]: "" } } };
  assert.equal(volumesAreSkipped(waiting(60, 1, marked), reached, NOW), true);
});

test("a Node that can't be deleted is given up after ten seconds, or as the Machine says; 0 is never", () => {
  const gone = (since: number, seconds?: number) =>
    nodeIsGivenUp(
      machine("m", {
        metadata: { deletionTimestamp: ago(since) },
        spec: seconds === undefined ? {} : { deletion: { nodeDeletionTimeoutSeconds: seconds } },
      }),
      NOW,
    );
  assert.deepEqual([gone(9), gone(10), gone(59, 60), gone(60, 60), gone(9999, 0)], [false, true, false, true, false]);
});
