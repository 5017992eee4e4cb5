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

test("an aggregate of one, or of few, is named in full, and what was not reported is said", () => {
  const by = (objects: Parameters<typeof aggregate>[0], type = "MachinesReady", source = "Ready") =>
    aggregate(objects, { type, of: source, kind: "Machine", reasons });
  assert.deepEqual(by([{ name: "a", conditions: undefined }]), {
    ...{ type: "MachinesReady", status: "Unknown", reason: "ReadyUnknown" },
    message: "* Machine a: Condition Ready not yet reported",
  });
  const said = ["a", "b", "c"].map((name) => ({ name, conditions: [of("Ready", "True", "fine")] }));
  assert.deepEqual(by(said), {
    ...{ type: "MachinesReady", status: "True", reason: "Ready", message: "* Machines a, b, c: fine" },
  });
  assert.equal(by([{ name: "a", conditions: [of("Ready", "True")] }]).message, "");
  const different = ["a", "b", "c", "d", "e"].map((name) => ({ name, conditions: [of("Ready", "False", name)] }));
  assert.match(by(different).message!, /Machine c: c\nAnd 2 Machines with other issues$/);
  assert.equal(by(different.slice(0, 3)).message, "* Machine a: a\n* Machine b: b\n* Machine c: c");
});

test("a negative condition made of others is True with any issue, False with none", () => {
  const rolling = (status: Condition["status"]) =>
    aggregate([{ name: "a", conditions: [of("RollingOut", status)] }], { type: "RollingOut", kind: "X", reasons });
  assert.deepEqual(
    (["True", "False", "Unknown"] as const).map((status) => [rolling(status).status, rolling(status).reason]),
    [
      ["True", "NotReady"],
      ["False", "Ready"],
      ["Unknown", "ReadyUnknown"],
    ],
  );
  const gated = (status: Condition["status"], negative: string[]) =>
    summary([of("Hot", status)], { type: "Ready", of: ["Hot"], negative, reasons }).status;
  assert.deepEqual([gated("True", ["Hot"]), gated("False", ["Hot"]), gated("True", [])], ["False", "True", "True"]);
});

test("v1beta1 conditions are ordered by name after Ready; their time moves with anything that they say", () => {
  const list = (["B", "Ready", "A"] as const).reduce(
    (so, type) => setOldCondition(so, { type, status: "True" }, 0),
    undefined as ReturnType<typeof setOldCondition> | undefined,
  )!;
  assert.deepEqual(
    list.map(({ type }) => type),
    ["Ready", "A", "B"],
  );
  const bad = { type: "A", status: "False", severity: "Info", reason: "R", message: "1 of 3" } as const;
  const time = (update: Parameters<typeof setOldCondition>[1]) =>
    setOldCondition(setOldCondition(list, bad, 1000), update, 5000).find(({ type }) => type === "A")
      ?.lastTransitionTime;
  assert.equal(
    time({ message: "1 of 3", reason: "R", severity: "Info", status: "False", type: "A" }),
    "1970-01-01T00:00:01Z",
  );
  assert.equal(time({ ...bad, message: "2 of 3" }), "1970-01-01T00:00:05Z");
});

test("Ready of v1beta1 is unknown where nothing is False and something unknown, and else True", () => {
  const lost = { type: "B", status: "Unknown", reason: "Lost", message: "m", lastTransitionTime: "" } as const;
  const good = { type: "A", status: "True", lastTransitionTime: "" } as const;
  assert.deepEqual(oldReady([good, lost], ["A", "B"]), {
    type: "Ready",
    status: "Unknown",
    reason: "Lost",
    message: "m",
  });
  assert.deepEqual(oldReady([good, lost], ["A", "Missing"]), { type: "Ready", status: "True" });
  assert.deepEqual(oldReady(undefined, ["A"]), { type: "Ready", status: "True" });
  const bare = { type: "A", status: "False", reason: "R", lastTransitionTime: "" } as const;
  assert.deepEqual(oldReady([bare], ["A"]), { type: "Ready", status: "False", severity: "Info", reason: "R" });
});
