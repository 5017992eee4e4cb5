import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterRows } from "./rows.ts";
import { aHost, aNode, anInfraMachine, aPod, aView, macOf } from "./testing.ts";

const MACHINES = new Map([1, 2, 3, 4].map((n) => [`lab-${n}`, macOf(n)]));

test("each machine's row has its host, whose it is, its Node with its Pods, and what is waited for; machines without one come last", () => {
  const rows = clusterRows(
    aView({
      hosts: [
        aHost(1, "provisioned", "a"),
        aHost(2, "", undefined, { operationalStatus: "discovered", waitingFor: "an approval" }),
        aHost(3, "provisioning", "b", { errorMessage: "no answer" }),
      ],
      infraMachines: [
        anInfraMachine("a", { ready: true }),
        anInfraMachine("b", { state: "provisioning" }, { deletionTimestamp: "now" }),
        anInfraMachine("c", { waitingFor: "capacity" }),
        anInfraMachine("d", { failureReason: "InstallFailed" }),
      ],
      nodes: [aNode("a"), aNode("b", "Unknown")],
      pods: [aPod("x", "a"), aPod("y", "a"), aPod("z", "a", { ready: false })],
    }),
    MACHINES,
  );
  assert.deepEqual(
    rows.map(({ machine, host, instance, node, doing }) => [machine, host, instance, node, doing]),
    [
      ["lab-1", "provisioned", "a: ready", "Ready, 2 ready Pods", ""],
      ["lab-2", "discovered", "-", "-", "waiting for an approval"],
      ["lab-3", "provisioning, error", "b: releasing", "not Ready", "no answer"],
      ["lab-4", "not seen", "-", "-", ""],
      ["-", "-", "c: new", "-", "waiting for capacity"],
      ["-", "-", "d: InstallFailed", "-", ""],
    ],
  );
});
