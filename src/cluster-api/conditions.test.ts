import assert from "node:assert/strict";
import { test } from "node:test";
import type { Condition } from "@slipway/kube";
import { aggregate, summary } from "./conditions.ts";
import { oldReady, setOldCondition } from "./old-conditions.ts";

const reasons = { issue: "NotReady", unknown: "ReadyUnknown", good: "Ready" };
const of = (type: string, status: Condition["status"], message = "", reason = `${type}Reason`): Condition => ({
  ...{ type, status, reason, message },
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
const ready = (conditions: Condition[]) =>
  summary(conditions, { type: "Ready", of: ["Deleting", "Bootstrap", "Infra"], optional: ["Deleting"], reasons });

test("a summary is bad with any issue, unknown with anything unknown, and lists them in the declared order", () => {
  assert.deepEqual(
    ready([of("Infra", "False", "no machine"), of("Bootstrap", "Unknown"), of("Deleting", "True", "going")]),
    {
      type: "Ready",
      status: "False",
      reason: "NotReady",
      message: "* Deleting: going\n* Bootstrap: BootstrapReason\n* Infra: no machine",
    },
  );
  assert.deepEqual(ready([of("Infra", "True", "here")]), {
    type: "Ready",
    status: "Unknown",
    reason: "ReadyUnknown",
    message: "* Bootstrap: Condition not yet reported",
  });
  assert.deepEqual(ready([of("Infra", "True", "here"), of("Bootstrap", "True"), of("Deleting", "False")]), {
    type: "Ready",
    status: "True",
    reason: "Ready",
    message: "* Infra: here",
  });
});

test("a list inside a message is indented below the name of its condition", () => {
  const { message } = ready([of("Infra", "False", "* Disk: full\n* Net: down"), of("Bootstrap", "True")]);
  assert.equal(message, "* Infra:\n  * Disk: full\n  * Net: down");
});

test("an aggregate names at most three objects and three messages, issues before what is unknown", () => {
  const machine = (name: string, status: Condition["status"], message: string) => ({
    name,
    conditions: [of("Ready", status, message)],
  });
  const result = aggregate(
    [
      machine("e", "Unknown", "lost"),
      ...["d", "c", "b", "a"].map((name) => machine(name, "False", "no Node")),
      machine("f", "False", "no disk"),
      { ...machine("g", "False", "no fan"), first: true },
      machine("h", "True", ""),
    ],
    { type: "MachinesReady", of: "Ready", kind: "Machine", reasons },
  );
  assert.equal(result.status, "False");
  assert.equal(
    result.message,
    "* Machine g: no fan\n* Machines a, b, c, ... (1 more): no Node\n* Machine f: no disk\nAnd 1 Machine with other issues",
  );
});

test("ScalingUp of several is True with any that scales up", () => {
  const sets = [
    { name: "a", conditions: [of("ScalingUp", "True", "from 1 to 3")] },
    { name: "b", conditions: [of("ScalingUp", "False")] },
  ];
  const { status, message } = aggregate(sets, { type: "ScalingUp", kind: "MachineSet", reasons });
  assert.deepEqual([status, message], ["True", "* MachineSet a: from 1 to 3"]);
});

test("Ready of v1beta1 is the gravest False, and its time moves when what it says does", () => {
  const no = (type: string, severity: "Error" | "Warning" | "Info") =>
    ({ type, status: "False", severity, reason: type }) as const;
  const list = [no("A", "Info"), no("B", "Error"), no("C", "Warning")].reduce(
    (so, update) => setOldCondition(so, update, 0),
    [] as ReturnType<typeof setOldCondition>,
  );
  const update = oldReady(list, ["A", "B", "C"]);
  assert.deepEqual(update, { type: "Ready", status: "False", severity: "Error", reason: "B" });
  const first = setOldCondition(list, update, 1000);
  assert.equal(first[0]?.type, "Ready");
  assert.deepEqual(setOldCondition(first, update, 5000), first, "the same is said again");
  assert.notDeepEqual(setOldCondition(first, { type: "Ready", status: "True" }, 5000), first);
});
