import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { MachineProvider } from "../kinds/slipway/machine-provider.ts";
import { madeUp } from "../kinds/testing.ts";
import { isReady } from "../views/standing.ts";
import { idOf, Progress, printed, progressRows, renderRows, table } from "./progress.ts";

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

test("a host's word is its provisioning state; what only holds data is not shown", () => {
  const [Host, Data] = [madeUp("Host"), { ...madeUp("Data"), status: undefined }];
  const available = { type: "Ready", status: "True", reason: "Available", message: "" };
  const host = object(Host, "h", { provisioning: { state: "available" }, conditions: [available] });
  const listed = [
    { kind: Host, objects: [host] },
    { kind: Data, objects: [object(Data, "h")] },
  ];
  assert.deepEqual(progressRows(listed, new Set()), [{ name: "  Host h", status: "available", doing: "Available" }]);
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

test("rows are drawn in columns, cut to the width, and over themselves on a terminal", () => {
  const rows = [
    { name: "Pool a", status: "ready", doing: "all is well", brief: "all" },
    { name: "  Machine b", status: "new", doing: "waiting for a boot" },
  ];
  assert.deepEqual(renderRows(rows, 100), [
    "Pool a       ready  all is well",
    "  Machine b  new    waiting for a boot",
  ]);
  assert.deepEqual(renderRows(rows, 8), ["Pool a  ", "  Machin"]);
  assert.deepEqual(renderRows([], 8), []);
  assert.deepEqual(table(["NAME", "A"], [["longer", "b"]]), ["NAME     A", "longer   b"]);

  const drawn: string[] = [];
  const terminal = new Progress({ write: (text) => drawn.push(text), isTTY: true, columns: 9 }, () => 0);
  terminal.show(rows);
  terminal.show(rows.slice(1));
  terminal.show(rows);
  assert.deepEqual(drawn, [
    "\x1b[2KPool a  \n\x1b[2K  Machin\n\x1b[J",
    "\x1b[2A\x1b[2K  Machin\n\x1b[J",
    "\x1b[1A\x1b[2KPool a  \n\x1b[2K  Machin\n\x1b[J",
  ]);
});

test("in a log each pool's progress is a line when it changes, with the seconds since the start", () => {
  const lines: string[] = [];
  let seconds = 0.04;
  const log = new Progress({ write: (text) => lines.push(text) }, () => seconds);
  const rows = (brief: string) => [
    { name: "Pool a", status: "new", doing: "x", brief },
    { name: "  Machine b", status: "new", doing: "x" },
  ];
  log.show(rows("0 of 2"));
  log.show(rows("0 of 2"));
  seconds = 12;
  log.show(rows("1 of 2"));
  assert.deepEqual(lines, ["   0.0s  Pool a: 0 of 2\n", "  12.0s  Pool a: 1 of 2\n"]);
});

test("the table leaves dates out", () => {
  const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
  const kind = { columns: [{ name: "Phase", type: "string", jsonPath: ".status.status" }, age] };
  assert.deepEqual(printed(kind, [object(Machine, "a", { status: "Running" })]), ["NAME   PHASE", "a      Running"]);
});
