import assert from "node:assert/strict";
import { test } from "node:test";
import { planProvisioning } from "./install-stage.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf } from "./testing.ts";

const image = { url: "http://images/a.raw", checksum: "a".repeat(64), checksumType: "sha256" };
const WRITTEN = { attempt: 1, startedAt: at("11:00:00"), writtenAt: at("11:30:00") };

function step(restartedAt: string | undefined, power: "on" | "off" = "on", spokeAt?: string): HostStep {
  const operation = { ...WRITTEN, ...(restartedAt !== undefined && { restartedAt }) };
  const machine = {
    boot: "disk",
    ...(spokeAt !== undefined && { session: { spokeAt: Date.parse(spokeAt) } }),
  } as never;
  const facts = factsOf("provisioning", {
    spec: { image },
    status: { operation, lastAttemptedImage: image },
    bmc: bmcThat(power),
    machine,
  });
  return planProvisioning(facts, operation);
}

const stateIn = (step: HostStep): unknown => step.do === "write" && step.fields.provisioning?.state;

test("a written host is started from its disk, and provisioned once its agent was silent for 90 s", () => {
  const first = step(undefined);
  assert.deepEqual([first.do, first.do === "power" && first.action], ["power", "restart"]);
  const off = step(undefined, "off");
  assert.deepEqual([off.do, off.do === "power" && off.action], ["power", "on"]);
  const soon = step(at("11:58:30"));
  assert.deepEqual([soon.do, soon.do === "wait" && soon.forWhat], ["wait", "the agent on the host to be gone"]);
  assert.equal(stateIn(step(at("11:58:29"))), "provisioned");
});

test("a host whose agent goes on speaking, or that is off, was not restarted: it is again", () => {
  assert.equal(step(at("11:58:00"), "on", at("11:59:00")).do, "power");
  assert.equal(stateIn(step(at("11:58:00"), "on", at("11:58:00"))), "provisioned");
  assert.equal(step(at("11:58:00"), "off").do, "power");
});

test("another image than was begun with is installed from the beginning", () => {
  const operation = WRITTEN;
  const other = factsOf("provisioning", {
    spec: { image: { ...image, url: "http://images/b.raw" } },
    status: { operation, lastAttemptedImage: image },
  });
  assert.equal(stateIn(planProvisioning(other, operation)), "deprovisioning");
});
