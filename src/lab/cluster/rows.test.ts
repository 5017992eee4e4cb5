import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterRows } from "./rows.ts";
import { aHost, aNode, aPacketMachine, aPod, aView, macOf } from "./testing.ts";

const MACHINES = new Map([1, 2, 3, 4].map((n) => [`lab-${n}`, macOf(n)]));

test("each machine's row has its host, whose it is, its Node with its Pods, and what is waited for; PacketMachines without one come last", () => {
  const rows = clusterRows(
    aView({
      hosts: [
        aHost(1, "provisioned", "a"),
        aHost(2, "", undefined, { operationalStatus: "discovered", waitingFor: "an approval" }),
        aHost(3, "provisioning", "b", { errorMessage: "no answer" }),
      ],
      packetMachines: [
        aPacketMachine("a", { ready: true }),
        aPacketMachine("b", { instanceState: "provisioning" }, { deletionTimestamp: "now" }),
        aPacketMachine("c", { waitingFor: "capacity" }),
        aPacketMachine("d", { failureReason: "InstallFailed" }),
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
