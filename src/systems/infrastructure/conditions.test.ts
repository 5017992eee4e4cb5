import assert from "node:assert/strict";
import { test } from "node:test";
import { aPacketMachine } from "../packet/testing.ts";
import { announce } from "./announce.ts";
import { type Told, told } from "./conditions.ts";

const PLACE = { now: 0, observedGeneration: 2 };
const set = (status: Told["status"], more: Partial<Told> = {}, list: ReturnType<typeof told> = []) =>
  told(list, { type: "Ready", status, reason: "R", message: "m", ...more }, PLACE);

test("a condition that is False has a severity, Info unless another is given; one that is not False has none", () => {
  assert.deepEqual(set(false), [
    {
      ...{ type: "Ready", status: "False", reason: "R", message: "m", severity: "Info" },
      ...{ observedGeneration: 2, lastTransitionTime: "1970-01-01T00:00:00Z" },
    },
  ]);
  const severity = (list: ReturnType<typeof told>) => (list[0] as { severity?: string }).severity;
  assert.equal(severity(set(false, { severity: "Error" })), "Error");
  for (const status of [true, "Unknown"] as const) {
    const after = set(status, { severity: "Error" }, set(false, { severity: "Error" }));
    assert.deepEqual([after[0]?.status, "severity" in after[0]!], [status === true ? "True" : "Unknown", false]);
  }
});

test("a condition with another severity is another one, and others stay as they are", () => {
  const list = [...set(false, { type: "Other", severity: "Warning" }), ...set(false)];
  const after = set(false, { severity: "Error" }, list);
  assert.deepEqual(
    after.map((one) => [one.type, (one as { severity?: string }).severity]),
    [
      ["Other", "Warning"],
      ["Ready", "Error"],
    ],
  );
});

/** Events that come of going from one list of conditions to another. */
function events(before: ReturnType<typeof told>, after: ReturnType<typeof told>): string[] {
  const seen: string[] = [];
  const add = (level: string) => (_: unknown, reason: string, message: string) =>
    void seen.push(`${level} ${reason}: ${message}`);
  const recorder = { normal: add("Normal"), warning: add("Warning") } as unknown as Parameters<typeof announce>[0];
  announce(recorder, aPacketMachine({}, { conditions: before }), aPacketMachine({}, { conditions: after }));
  return seen;
}
const instance = (status: Told["status"], more: Partial<Told> = {}) => set(status, { type: "InstanceReady", ...more });

test("an event says what became so: trouble as a warning, the rest as normal, and a condition without words by its status", () => {
  assert.deepEqual(events([], instance(false)), ["Normal R: m"]);
  assert.deepEqual(events([], instance(false, { severity: "Error" })), ["Warning R: m"]);
  assert.deepEqual(events([], instance(false, { severity: "Warning" })), ["Warning R: m"]);
  assert.deepEqual(events(instance(false), instance(true, { message: "" })), ["Normal R: InstanceReady is True"]);
});

test("what stays so, and what other conditions say already, is no event", () => {
  assert.deepEqual(events(instance(false), instance(false, { message: "other words" })), []);
  assert.deepEqual(events(instance(false), instance(false, { reason: "Q" })), ["Normal Q: m"]);
  for (const type of ["Ready", "Paused"]) assert.deepEqual(events([], set(false, { type, severity: "Error" })), []);
});

test("Stalled is a warning while it is True, and no event when it ends", () => {
  assert.deepEqual(events([], set(true, { type: "Stalled" })), ["Warning R: m"]);
  assert.deepEqual(events(set(true, { type: "Stalled" }), set(false, { type: "Stalled" })), []);
});
