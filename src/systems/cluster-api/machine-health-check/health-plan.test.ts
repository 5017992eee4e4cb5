import assert from "node:assert/strict";
import { test } from "node:test";
import { ANNOTATIONS, LABELS } from "../../../cluster-api/names.ts";
import type { MachineHealthCheck } from "../../../kinds/cluster-api/machine-health-check.ts";
import { ago, cluster, is, machine, NOW, node } from "../testing.ts";
import { allowance, type Health, healthOf, isSkipped, isWatched, type NodeKnown } from "./health-plan.ts";

const check = (spec: object = {}): MachineHealthCheck => ({ spec }) as MachineHealthCheck;
const ready = check({
  checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 300 }] },
});
const there = (status: "True" | "Unknown", seconds: number): NodeKnown => ({
  is: "there",
  node: node("n", { status: { conditions: [is("Ready", status, { lastTransitionTime: ago(seconds) })] } }),
});
const reasonOf = (health: Health): string => (health.is === "unhealthy" ? health.reason : health.is);
const of = (name: string, by = ready, known = there("True", 60), of: object = {}) =>
  healthOf({ machine: machine(name, of), node: known }, by, cluster(), NOW);

test("a Node's condition makes its Machine unhealthy when it has held for as long as allowed, and not before", () => {
  assert.deepEqual(of("m"), { is: "healthy" });
  assert.deepEqual(of("m", ready, there("Unknown", 299)), { is: "pending", inMs: 1000 });
  assert.deepEqual(of("m", ready, there("Unknown", 300)), {
    is: "unhealthy",
    reason: "UnhealthyNode",
    message: "Health check failed: Condition Ready on Node is reporting status Unknown for more than 300s",
  });
});

test("a Machine's own condition counts, also while its Node can't be seen", () => {
  const own = check({
    checks: { unhealthyMachineConditions: [{ type: "Disk", status: "False", timeoutSeconds: 60 }] },
  });
  const failing = (seconds: number) => ({
    status: { conditions: [is("Disk", "False", { lastTransitionTime: ago(seconds) })] },
  });
  assert.equal(reasonOf(of("m", own, { is: "unknown" }, failing(60))), "UnhealthyMachine");
  assert.deepEqual(of("m", own, { is: "unknown" }, failing(59)), { is: "unknown" });
  assert.deepEqual(of("m", own, { is: "none" }, { ...failing(59), metadata: { creationTimestamp: ago(590) } }), {
    is: "pending",
    inMs: 1000,
  });
});

test("a Machine that a user marks is unhealthy at once, and so is one whose Node was deleted", () => {
  const marked = { metadata: { annotations: { [ANNOTATIONS.remediateMachine]: "" } } };
  assert.equal(reasonOf(of("m", ready, there("True", 60), marked)), "HasRemediateAnnotation");
  const lost = of("m", ready, { is: "gone" }, { status: { nodeRef: { name: "n7" } } });
  assert.deepEqual(lost, {
    is: "unhealthy",
    reason: "NodeDeleted",
    message: "Health check failed: Node n7 has been deleted",
  });
});

test("the time to become a Node starts when the last thing that it needs was there, and is ten minutes by default", () => {
  const startup = (seconds: number | undefined, machineAgo: number, initializedAgo: number) =>
    healthOf(
      { machine: machine("m", { metadata: { creationTimestamp: ago(machineAgo) } }), node: { is: "none" } },
      check({ checks: seconds === undefined ? {} : { nodeStartupTimeoutSeconds: seconds } }),
      cluster({
        status: {
          conditions: [
            is("ControlPlaneInitialized", "True", { lastTransitionTime: ago(initializedAgo) }),
            is("InfrastructureReady", "False", { lastTransitionTime: ago(1) }),
          ],
        },
      }),
      NOW,
    );
  assert.equal(reasonOf(startup(undefined, 600, 4000)), "NodeStartupTimeout");
  assert.deepEqual(startup(undefined, 599, 4000), { is: "pending", inMs: 1000 });
  assert.deepEqual(startup(100, 4000, 99), { is: "pending", inMs: 1000 });
  assert.equal(reasonOf(startup(100, 4000, 100)), "NodeStartupTimeout");
  assert.deepEqual(startup(0, 4000, 4000), { is: "pending", inMs: Number.POSITIVE_INFINITY });
});

test("Machines of a cluster that is not up are not looked at, but for those of its control plane", () => {
  const up = (infrastructureProvisioned: boolean, controlPlaneInitialized: boolean) =>
    cluster({ status: { initialization: { infrastructureProvisioned, controlPlaneInitialized } } });
  const worker = machine("w");
  const plane = machine("p", { metadata: { labels: { [LABELS.controlPlane]: "" } } });
  assert.deepEqual(
    [up(true, true), up(true, false), up(false, true), cluster()].map((one) => isWatched(worker, one)),
    [true, false, false, false],
  );
  assert.equal(isWatched(plane, cluster()), true);
});

test("remediation leaves out Machines that are paused or marked so", () => {
  const marked = (key: string) => isSkipped(machine("m", { metadata: { annotations: { [key]: "" } } }));
  assert.deepEqual(
    [marked(ANNOTATIONS.skipRemediation), marked(ANNOTATIONS.paused), marked("other")],
    [true, true, false],
  );
});

test("remediation stops when too many are unhealthy, and says how many may be", () => {
  const most = (trigger: object) => (expected: number, healthy: number) =>
    allowance(check({ remediation: { triggerIf: trigger } }), expected, healthy);
  const atMost = most({ unhealthyLessThanOrEqualTo: "40%" });
  assert.deepEqual([atMost(5, 3).allowed, atMost(5, 3).left, atMost(5, 4).left], [true, 0, 1]);
  assert.deepEqual([atMost(5, 2).allowed, atMost(5, 2).left], [false, 0]);
  assert.match(atMost(5, 2).message, /total: 5, unhealthy: 3, maxUnhealthy: 40%/);
  const within = most({ unhealthyInRange: "[2-3]" });
  assert.deepEqual(
    [1, 2, 3, 4].map((unhealthy) => within(9, 9 - unhealthy)).map(({ allowed, left }) => [allowed, left]),
    [
      [false, 0],
      [true, 1],
      [true, 0],
      [false, 0],
    ],
  );
  assert.match(within(9, 5).message, /total: 9, unhealthy: 4, unhealthyInRange: \[2-3\]/);
  assert.deepEqual([allowance(check(), 3, 0).allowed, allowance(check(), 3, 0).left], [true, 0]);
});
