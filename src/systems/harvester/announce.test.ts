import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Condition } from "@slipway/kube";
import type { Instance, InstanceStatus } from "../../kinds/harvester/instance.ts";
import { isAbandoned, mayBeAbandoned, withWayOut } from "./abandon.ts";
import { announce } from "./announce.ts";

const instance = (status: Partial<InstanceStatus>, annotations: Record<string, string> = {}): Instance =>
  ({ metadata: { name: "rack-a", uid: "u-1", annotations }, spec: {}, status }) as unknown as Instance;
const condition = (type: string, status: "True" | "False", reason: string): Condition =>
  ({ type, status, reason, message: `${type} words` }) as Condition;

/** The events of going from one status to another. */
function events(before: Partial<InstanceStatus>, after: Partial<InstanceStatus>): string[] {
  const seen: string[] = [];
  const add = (level: string) => (_: unknown, reason: string, message: string) =>
    void seen.push(`${level} ${reason}: ${message}`);
  const recorder = { normal: add("Normal"), warning: add("Warning") } as unknown as Parameters<typeof announce>[0];
  announce(recorder, instance(before), instance(after));
  return seen;
}
const become = (after: Condition, before: Condition[] = []) => events({ conditions: before }, { conditions: [after] });

test("what became true is an event once; steps on the way, and what became false, are none", () => {
  const joined = condition("Ready", "True", "Joined");
  assert.deepEqual(become(joined), ["Normal Joined: Ready words"]);
  assert.deepEqual(become(joined, [joined]), []);
  assert.deepEqual(become(joined, [condition("Ready", "False", "Joined")]), ["Normal Joined: Ready words"]);
  for (const step of ["MachineReady", "Installed"]) assert.deepEqual(become(condition(step, "True", "Yes")), []);
  assert.deepEqual(become(condition("Ready", "False", "Waiting")), []);
});

test("trouble is a warning by its reason, whichever condition it is of, and again when the reason changes", () => {
  const reasons = ["NameTaken", "NodeNotReady", "NodeMissing", "NoCapacity", "Protected", "QuorumAtRisk", "Locked"];
  for (const reason of [...reasons, "DrainStuck", "MissingInput", "BadCredentials", "Invalid"])
    assert.deepEqual(become(condition("Ready", "False", reason), [condition("Ready", "False", "Other")]), [
      `Warning ${reason}: Ready words`,
    ]);
  assert.deepEqual(become(condition("Stalled", "True", "Invalid")), ["Warning Invalid: Stalled words"]);
});

test("a machine that is given up is a warning once", () => {
  const failure = { reason: "JoinTimeout", message: "no Ready Node", at: "2026-01-01T00:00:00Z" };
  assert.deepEqual(events({}, { failure }), ["Warning JoinTimeout: no Ready Node"]);
  assert.deepEqual(events({ failure }, { failure }), []);
});

test("an Instance is abandoned by its annotation being true, and only for faults that are the provider's", () => {
  assert.equal(isAbandoned(instance({}, { "slipway.dev/abandon-machine": "true" })), true);
  assert.equal(isAbandoned(instance({}, { "slipway.dev/abandon-machine": "no" })), false);
  assert.equal(isAbandoned(instance({})), false);
  assert.equal(mayBeAbandoned(new Fault("Unavailable", "api", "x")), true);
  for (const code of ["Conflict", "NotLeader", "Undeclared", "Bug"] as const)
    assert.equal(mayBeAbandoned(new Fault(code, "it", "x")), false, code);
  assert.equal(mayBeAbandoned(new Error("x")), false);
});

test("a deletion that the provider holds up names the way out, and what is left by it", () => {
  const first = new Fault("Throttled", "api", "too many requests", { retryAfterMs: 5_000 });
  const out = withWayOut(first, instance({ instanceID: "m-1" }), "ns");
  assert.deepEqual(
    [out.code, out.on, out.message, out.retryAfterMs, out.cause],
    ["Throttled", "api", first.message, 5_000, first],
  );
  assert.equal(
    out.remedy,
    "if the provider will not answer again: kubectl annotate instance rack-a slipway.dev/abandon-machine=true lets the Instance go, leaves machine m-1 as it is, and lists it in ConfigMap ns/slipway-abandoned-machines",
  );
  const second = withWayOut(
    new Fault("BadCredentials", "api", "401", { remedy: "mend the Secret" }),
    instance({}),
    "ns",
  );
  assert.match(
    second.remedy!,
    /^mend the Secret; if the provider .* leaves the machine that may have been ordered as it is/,
  );
});
