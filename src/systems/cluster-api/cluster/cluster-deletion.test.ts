import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { ago, cluster, deployment, machine, machineSet } from "../testing.ts";
import { descendantsLeft, descendantsToDelete } from "./cluster-deletion.ts";

const OWNER = { apiVersion: "v1", kind: "Owner", name: "o", uid: "o", controller: true };
const owned = { metadata: { ownerReferences: [OWNER] } };
const going = { metadata: { deletionTimestamp: ago(1) } };
const ofControlPlane = { metadata: { labels: { "cluster.x-k8s.io/control-plane": "" } } };
const PLANE = { controlPlaneRef: { apiGroup: "g", kind: "K", name: "p" } };
const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

test("what nobody else deletes goes with a Cluster, and is deleted once", () => {
  const found = descendantsToDelete(cluster(), {
    deployments: [deployment()],
    sets: [machineSet("alone"), machineSet("owned", owned), machineSet("going", going)],
    machines: [machine("alone"), machine("owned", owned), machine("going", going)],
  });
  assert.deepEqual(
    [names(found.deployments), names(found.sets), names(found.machines)],
    [["berth"], ["alone"], ["alone"]],
  );
  const again = descendantsToDelete(cluster(), { deployments: [deployment(going)], sets: [], machines: [] });
  assert.deepEqual(again.deployments, []);
});

test("Machines of a control plane go with its object, and with the Cluster where it has none", () => {
  const all = { deployments: [], sets: [], machines: [machine("cp", ofControlPlane)] };
  assert.deepEqual(names(descendantsToDelete(cluster(), all).machines), ["cp"]);
  assert.equal(descendantsLeft(cluster(), all), "* Machines: cp");
  const withPlane = cluster({ spec: PLANE });
  assert.deepEqual(descendantsToDelete(withPlane, all).machines, []);
  assert.equal(descendantsLeft(withPlane, all), undefined);
});

test("what is left is named by kind, five of each", () => {
  const machines = (count: number) => Array.from({ length: count }, (_, n) => machine(`m${n}`)).toReversed();
  const left = (count: number) =>
    descendantsLeft(cluster(), {
      deployments: [deployment(going)],
      sets: [machineSet("s", owned)],
      machines: machines(count),
    });
  assert.equal(left(0), "* MachineDeployments: berth\n* MachineSets: s");
  assert.match(left(5)!, /\n\* Machines: m0, m1, m2, m3, m4$/);
  assert.match(left(7)!, /\n\* Machines: m0, m1, m2, m3, m4, \.\.\. \(2 more\)$/);
});
