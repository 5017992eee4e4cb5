import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";
import { madeUp } from "../kinds/testing.ts";
import { idOf, isReady, printed, progressRows } from "./progress.ts";

const [Pool, Machine] = [madeUp("Pool"), madeUp("Machine")];

type Condition = { type: string; status: string; message: string };

const object = (kind: { group: string; version: string; kind: string }, name: string, status?: object): KubeObject =>
  ({
    ...{ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, status },
    metadata: { name, generation: 2 },
  }) as unknown as KubeObject;
const ready = (message: string, status = "True"): Condition => ({ type: "Ready", status, message });

test("an object is ready when it says so of its present generation", () => {
  const pool = (status?: object) => object(Pool, "a", status);
  assert.equal(isReady(pool({ observedGeneration: 2, conditions: [ready("")] })), true);
  assert.equal(isReady(pool({ observedGeneration: 1, conditions: [ready("")] })), false);
  assert.equal(isReady(pool({ observedGeneration: 2, conditions: [ready("", "False")] })), false);
  assert.equal(isReady(pool({ observedGeneration: 2 })), false);
  assert.equal(isReady(pool()), false);
});

test("a row says what an object does: what stalls it before what it waits for, and that before how far it is", () => {
  const pool = object(Pool, "p", {
    status: "notReady",
    conditions: [ready("1 of 2 machines have joined; x waits", "False")],
  });
  const stalled = { type: "Stalled", status: "True", message: "the key is refused" };
  const machines = [
    object(Machine, "a", { status: "managed", waitingFor: "a boot", conditions: [ready("half"), stalled] }),
    object(Machine, "b", { waitingFor: "a boot", conditions: [ready("half", "False")] }),
    object(Machine, "c", { observedGeneration: 2, conditions: [ready("all is well")] }),
    object(Machine, "d"),
  ];
  const listed = [
    { kind: Pool, objects: [pool] },
    { kind: Machine, objects: machines },
  ];
  assert.deepEqual(progressRows(listed, new Set([idOf(pool)])), [
    {
      name: "Pool p",
      status: "notReady",
      doing: "1 of 2 machines have joined; x waits",
      brief: "1 of 2 machines have joined",
    },
    { name: "  Machine a", status: "managed", doing: "the key is refused" },
    { name: "  Machine b", status: "new", doing: "waiting for a boot" },
    { name: "  Machine c", status: "ready", doing: "all is well" },
    { name: "  Machine d", status: "new", doing: "waiting for the operator to look at it" },
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
