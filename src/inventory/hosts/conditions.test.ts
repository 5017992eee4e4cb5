import assert from "node:assert/strict";
import { test } from "node:test";
import { hostConditions, reasonOf } from "./conditions.ts";
import { factsOf, NOW } from "./testing.ts";

type Of = Parameters<typeof factsOf>[1];

/** The conditions as `Type=True reason: message`. */
function conditions(state: string, of: Of = {}): string[] {
  return hostConditions(factsOf(state, of).host, NOW).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}${message === "" ? "" : `: ${message}`}`,
  );
}
const true_ = (state: string, of: Of = {}): string[] =>
  conditions(state, { status: { poweredOn: true }, ...of })
    .filter((each) => each.includes("=True"))
    .map((each) => each.split("=")[0]!);

test("a host that is available, healthy and powered as wanted is ready", () => {
  assert.deepEqual(conditions("available", { status: { poweredOn: true } }), [
    "Manageable=True Registered",
    "AvailableForProvisioning=True Available",
    "Provisioned=False Available",
    "Progressing=False Available",
    "Healthy=True Healthy",
    "Ready=True Available",
  ]);
  assert.equal(hostConditions(factsOf("available").host, NOW)[0]?.observedGeneration, 1);
});

test("which conditions hold follows from the state", () => {
  const healthy = ["Healthy"];
  assert.deepEqual(true_(""), ["Progressing", ...healthy]);
  assert.deepEqual(true_("unmanaged"), healthy);
  assert.deepEqual(true_("registering"), ["Progressing", ...healthy]);
  assert.deepEqual(true_("preparing"), ["Manageable", "Progressing", ...healthy]);
  assert.deepEqual(true_("provisioned"), ["Manageable", "Provisioned", ...healthy, "Ready"]);
  assert.deepEqual(true_("externally provisioned"), ["Manageable", "Provisioned", ...healthy, "Ready"]);
  assert.match(conditions("")[0]!, /^Manageable=False New/);
});

test("a host is ready with its power as wanted, or where nobody may change that, and while it waits for nothing", () => {
  const isReady = (of: Of): boolean => true_("available", of).includes("Ready");
  assert.equal(isReady({ status: { poweredOn: false } }), false);
  assert.equal(isReady({ status: { poweredOn: false }, spec: { online: false } }), true);
  assert.equal(isReady({ status: { poweredOn: false }, spec: { disablePowerOff: true } }), true);
  assert.equal(isReady({ status: { poweredOn: true, waitingFor: "a person" } }), false);
  assert.match(conditions("available", { status: { waitingFor: "a person" } })[5]!, /Ready=False Available: a person/);
});

test("what is wrong or waited for is the message of what does not hold", () => {
  const status = { operationalStatus: "error", errorMessage: "no disk" };
  assert.deepEqual(conditions("preparing", { status }).slice(3), [
    "Progressing=True Preparing: no disk",
    "Healthy=False Error: no disk",
    "Ready=False Error: no disk",
  ]);
  assert.match(conditions("registering", { status: { waitingFor: "x" } })[0]!, /Manageable=False Registering: x/);
  assert.match(conditions("preparing", { status: { operationalStatus: "" } })[4]!, /Healthy=False Unknown/);
  for (const operationalStatus of ["OK", "servicing", "detached"])
    assert.match(conditions("available", { status: { operationalStatus } })[4]!, /Healthy=True Healthy/);
});

test("the list is the very same while nothing changes", () => {
  const { host } = factsOf("available", { status: { poweredOn: true } });
  host.status!.conditions = hostConditions(host, NOW);
  assert.equal(hostConditions(host, NOW + 60_000), host.status!.conditions);
});

test("words become a reason", () => {
  assert.equal(reasonOf("powering off before delete"), "PoweringOffBeforeDelete");
  assert.equal(reasonOf(""), "");
});

test("a host that nobody has begun with has conditions, too", () => {
  const { host } = factsOf("");
  const of = hostConditions({ ...host, status: undefined as never }, NOW).map(
    ({ type, status }) => `${type}=${status}`,
  );
  assert.deepEqual(of.slice(3), ["Progressing=True", "Healthy=False", "Ready=False"]);
});
