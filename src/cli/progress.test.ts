import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { Instance } from "../kinds/harvester/instance.ts";
import { InstancePool } from "../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";
import { idOf, isReady, printed, progressRows } from "./progress.ts";

type Condition = { type: string; status: string; message: string };

const object = (kind: { group: string; version: string; kind: string }, name: string, status?: object): KubeObject =>
  ({
    ...{ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, status },
    metadata: { name, generation: 2 },
  }) as unknown as KubeObject;
const ready = (message: string, status = "True"): Condition => ({ type: "Ready", status, message });

test("an object is ready when it says so of its present generation", () => {
  const pool = (status?: object) => object(InstancePool, "a", status);
  assert.equal(isReady(pool({ observedGeneration: 2, conditions: [ready("")] })), true);
  assert.equal(isReady(pool({ observedGeneration: 1, conditions: [ready("")] })), false);
  assert.equal(isReady(pool({ observedGeneration: 2, conditions: [ready("", "False")] })), false);
  assert.equal(isReady(pool({ observedGeneration: 2 })), false);
  assert.equal(isReady(pool()), false);
});

test("a row says what an object does: what stalls it before what it waits for, and that before how far it is", () => {
  const pool = object(InstancePool, "p", {
    status: "notReady",
    conditions: [ready("1 of 2 machines have joined; x waits", "False")],
  });
  const stalled = { type: "Stalled", status: "True", message: "the key is refused" };
  const machines = [
    object(Instance, "a", { status: "managed", waitingFor: "a boot", conditions: [ready("half"), stalled] }),
    object(Instance, "b", { waitingFor: "a boot", conditions: [ready("half", "False")] }),
    object(Instance, "c", { observedGeneration: 2, conditions: [ready("all is well")] }),
    object(Instance, "d"),
  ];
  const listed = [
    { kind: InstancePool, objects: [pool] },
    { kind: Instance, objects: machines },
  ];
  assert.deepEqual(progressRows(listed, new Set([idOf(pool)])), [
    {
      name: "InstancePool p",
      status: "notReady",
      doing: "1 of 2 machines have joined; x waits",
      brief: "1 of 2 machines have joined",
    },
    { name: "  Instance a", status: "managed", doing: "the key is refused" },
    { name: "  Instance b", status: "new", doing: "waiting for a boot" },
    { name: "  Instance c", status: "ready", doing: "all is well" },
    { name: "  Instance d", status: "new", doing: "waiting for the operator to look at it" },
  ]);
});

test("the table has the kind's own columns, conditions among them", () => {
  const account = object(MachineProvider, "fra", { conditions: [ready("", "False")], machines: 3 }) as KubeObject & {
    spec: object;
  };
  account.spec = { type: "latitude" };
  assert.deepEqual(printed(MachineProvider, [account]), [
    "NAME   TYPE       READY   MACHINES",
    "fra    latitude   False   3",
  ]);
});
