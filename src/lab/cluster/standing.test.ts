import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { areOffered, areReady, isGone, isRemediated, isSpread } from "./standing.ts";
import { aDeployment, aHost, aMachine, aNode, anInfraMachine, aPod, aView, macOf } from "./testing.ts";

const workers = (readyReplicas: number) => ({ status: { readyReplicas } }) as unknown as MachineDeployment;
const MACS = [macOf(1), macOf(2)];

test("machines are offered once each is a host that is available and nobody's", () => {
  const is = (...hosts: ReturnType<typeof aHost>[]) => areOffered(aView({ hosts }), MACS);
  assert.equal(is(aHost(1, "available"), aHost(2, "available")), true);
  assert.equal(is(aHost(1, "available")), false);
  assert.equal(is(aHost(1, "available"), aHost(2, "preparing")), false);
  assert.equal(is(aHost(1, "available"), aHost(2, "available", "a")), false);
});

test("workers are ready when each has a Node that is, none leaves, and Cluster API says so", () => {
  const view = {
    workers: workers(2),
    machines: [aMachine("a"), aMachine("b")],
    nodes: [aNode("a"), aNode("b")],
  };
  const is = (over: object) => areReady(aView({ ...view, ...over }), 2);
  assert.equal(is({}), true);
  for (const [why, over] of Object.entries({
    "Cluster API does not": { workers: workers(1) },
    "there is no MachineDeployment": { workers: undefined },
    "a Node is not": { nodes: [aNode("a"), aNode("b", "Unknown")] },
    "a Node of none is left": { nodes: [...view.nodes, aNode("c")] },
    "a Machine has no Node": { machines: [aMachine("a"), aMachine("b", { nodeRef: undefined })] },
    "one leaves": { machines: [...view.machines, aMachine("c", {}, { deletionTimestamp: "now" })] },
    "one is missing": { machines: [aMachine("a")], nodes: [aNode("a")] },
  }))
    assert.equal(is(over), false, why);
});

test("a workload is spread when a ready Pod of it is on each Node", () => {
  const view = {
    nodes: [aNode("a"), aNode("b")],
    deployments: [aDeployment(2)],
    pods: [aPod("x", "a"), aPod("y", "b")],
  };
  const is = (over: object = {}) => isSpread(aView({ ...view, ...over }), ["peers"]);
  assert.equal(is(), true);
  assert.equal(isSpread(aView(), []), true);
  for (const [why, over] of Object.entries({
    "there is none": { deployments: [] },
    "it counts one": { deployments: [aDeployment(1)] },
    "both are on one": { pods: [aPod("x", "a"), aPod("y", "a")] },
    "one is not ready": { pods: [aPod("x", "a"), aPod("y", "b", { ready: false })] },
    "one leaves": { pods: [aPod("x", "a"), aPod("y", "b", { leaving: true })] },
    "one is of another": { pods: [aPod("x", "a"), aPod("y", "b", { app: "other" })] },
  }))
    assert.equal(is(over), false, why);
});

test("a machine was found unhealthy when its owner is told to replace it", () => {
  const conditions = [{ type: "OwnerRemediated", status: "False" }];
  const view = aView({ machines: [aMachine("a", { conditions }), aMachine("b")] });
  assert.deepEqual([isRemediated(view, "a"), isRemediated(view, "b"), isRemediated(view, "c")], [true, false, false]);
});

test("a cluster is gone when nothing of it is left, and all machines are offered", () => {
  const view = { hosts: [aHost(1, "available"), aHost(2, "available")] };
  const is = (over: object = {}) => isGone(aView({ ...view, ...over }), MACS);
  assert.equal(is(), true);
  assert.equal(is({ cluster: {} as Cluster }), false);
  assert.equal(is({ machines: [aMachine("a")] }), false);
  assert.equal(is({ infraMachines: [anInfraMachine("a")] }), false);
  assert.equal(is({ hosts: [aHost(1, "available"), aHost(2, "deprovisioning")] }), false);
});
