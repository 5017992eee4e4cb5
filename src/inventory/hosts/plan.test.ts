/** The life of a host, state by state: from which state a wish leads to which. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Facts } from "./facts.ts";
import { HOST_FINALIZER, needsNetboot, planHost } from "./plan.ts";
import type { HostStep } from "./step.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const image = { url: "http://images/a.raw", checksum: "a".repeat(64) };
const operation = { attempt: 1, startedAt: at("11:50:00") };
const HOUR = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

interface Of extends Partial<Omit<Facts, "host">> {
  spec?: object;
  status?: object;
  annotations?: Record<string, string>;
  deletedAt?: string;
  finalizers?: string[];
}

function factsFor(
  state: string,
  { annotations = {}, deletedAt, finalizers = [HOST_FINALIZER], ...more }: Of = {},
): Facts {
  const bmc = "bmc" in more ? more.bmc : bmcThat("on");
  const facts = factsOf(state, { ...more, bmc, status: { operation, poweredOn: true, ...more.status } });
  Object.assign(facts.host.metadata, {
    annotations,
    finalizers,
    ...(deletedAt !== undefined && { deletionTimestamp: deletedAt }),
  });
  return facts;
}

const plan = (state: string, of: Of = {}): HostStep => planHost(factsFor(state, of));

/** Where it goes, or what is done or waited for. */
function where(step: HostStep): string {
  if (step.do === "write") return step.fields.provisioning?.state ?? `${step.fields.operationalStatus}`;
  if (step.do === "wait") return step.forWhat ?? "wait";
  return step.do;
}
const to = (state: string, of: Of = {}): string => where(plan(state, of));
const said = (step: HostStep): unknown => step.do === "write" && step.event?.reason;

test("nothing is done before the finalizer is on, and the last state takes it off", () => {
  assert.equal(to("available", { finalizers: [] }), "hold");
  assert.equal(to("", { finalizers: ["example.com/keep"] }), "hold");
  assert.equal(to("deleting"), "letGo");
});

test("an available host goes where its specification and its annotations lead, and nowhere without", () => {
  assert.equal(to("available"), "available");
  assert.equal(to("available", { spec: { externallyProvisioned: true, image } }), "externally provisioned");
  assert.equal(to("available", { annotations: { "inspect.metal3.io": "" } }), "inspecting");
  assert.equal(to("available", { annotations: { "inspect.metal3.io": "disabled" } }), "available");
  assert.equal(to("available", { annotations: { "slipway.dev/wipe": "" } }), "preparing");
  assert.equal(to("available", { spec: { image } }), "provisioning");
  assert.equal(to("available", { spec: { customDeploy: { method: "ipxe" } } }), "provisioning");
  assert.equal(to("available", { spec: { image, online: false } }), "power");
  assert.equal(to("available", { spec: { image: { url: "" } } }), "available");
});

test("an installation begins with what it is of, under the method that was asked for", () => {
  const step = plan("available", { spec: { customDeploy: { method: "ipxe" }, image } });
  assert.ok(step.do === "write");
  assert.deepEqual(step.fields.operation, { attempt: 1, startedAt: iso(NOW), method: "ipxe" });
  assert.deepEqual([step.fields.lastAttemptedImage, step.event?.message], [image, "Installation started: ipxe"]);
});

test("a provisioned host stays while its specification is what was installed, and is wiped when it is not", () => {
  const status = { provisioning: { state: "provisioned", ID: "id", image } };
  const of = (spec: object): string => to("provisioned", { spec, status });
  assert.equal(of({ image }), "provisioned");
  assert.equal(of({ image: { ...image, checksum: "other" } }), "provisioned");
  assert.equal(of({}), "deprovisioning");
  assert.equal(of({ image: { ...image, url: "http://images/b.raw" } }), "deprovisioning");
  assert.equal(of({ image, customDeploy: { method: "ipxe" } }), "deprovisioning");
});

test("a machine that netboot has just met is sent to its disk, and one that has been in the agent is left as it is", () => {
  const status = { provisioning: { state: "provisioned", ID: "id", image } };
  const of = (machine: object, more: Of = {}): HostStep =>
    plan("provisioned", { spec: { image }, status, machine: machine as never, ...more });
  assert.deepEqual(of({ boot: "agent" }), { do: "boot", from: "disk" });
  assert.notEqual(of({ boot: "disk" }).do, "boot");
  assert.notEqual(of({ boot: "agent", session: {} }).do, "boot");
  assert.notEqual(of({ boot: "agent" }, { rival: "metal/node-2" }).do, "boot");
  const external = plan("externally provisioned", {
    spec: { externallyProvisioned: true },
    machine: { boot: "agent" } as never,
  });
  assert.deepEqual(external, { do: "boot", from: "disk" });
});

test("an externally provisioned host that is given to us is inspected", () => {
  assert.equal(to("externally provisioned"), "inspecting");
  assert.equal(to("externally provisioned", { spec: { externallyProvisioned: false } }), "inspecting");
  assert.equal(to("externally provisioned", { spec: { externallyProvisioned: true } }), "externally provisioned");
});

test("a host that would be worked on waits for room, says that it is delayed, and goes on when there is some", () => {
  assert.equal(to("available", { spec: { image }, hasRoom: false }), "available");
  const delayed = plan("available", { spec: { image }, hasRoom: false });
  assert.equal(delayed.do === "write" && delayed.fields.operationalStatus, "delayed");
  const waits = (state: string, spec: object): string =>
    to(state, { spec, hasRoom: false, status: { operationalStatus: "delayed", operation } });
  for (const [state, spec] of [
    ["available", { image }],
    ["provisioned", {}],
    ["inspecting", {}],
    ["deprovisioning", {}],
  ] as const)
    assert.equal(waits(state, spec), "one of the hosts that are worked on to be done", state);
  assert.equal(to("powering off before delete", { hasRoom: false }), "power");
});

test("work that has failed waits until it may begin anew, and work without a beginning gets one", () => {
  const later = { ...operation, againAt: iso(NOW + 1_000) };
  assert.equal(
    to("inspecting", { status: { operation: later, errorMessage: "no agent" } }),
    "another try after: no agent",
  );
  assert.notEqual(
    to("inspecting", { status: { operation: { ...operation, againAt: iso(NOW) } } }).slice(0, 7),
    "another",
  );
  const fresh = plan("inspecting", { status: { operation: undefined } });
  assert.deepEqual(fresh.do === "write" && fresh.fields.operation, { attempt: 1, startedAt: iso(NOW) });
});

const deletedAt = iso(NOW - 60_000);

test("a deletion takes each state's way out", () => {
  for (const state of ["", "unmanaged", "registering", "externally provisioned"])
    assert.equal(to(state, { deletedAt }), "deleting", state);
  for (const state of ["provisioning", "provisioned"]) assert.equal(to(state, { deletedAt }), "deprovisioning", state);
  for (const state of ["inspecting", "preparing", "available"])
    assert.equal(to(state, { deletedAt }), "powering off before delete", state);
  assert.equal(to("powering off before delete", { deletedAt }), "power");
  assert.equal(to("powering off before delete", { deletedAt, bmc: bmcThat("off") }), "deleting");
  assert.equal(to("deleting", { deletedAt }), "letGo");
});

test("a detached host is let alone, deleted as it is, or keeps its deletion waiting", () => {
  const annotations = { "baremetalhost.metal3.io/detached": "" };
  assert.equal(where(plan("available", { annotations })), "available");
  const told = plan("available", { annotations });
  assert.equal(told.do === "write" && told.fields.operationalStatus, "detached");
  const status = { operationalStatus: "detached", operation };
  assert.deepEqual(plan("available", { annotations, status }), { do: "wait" });
  assert.notEqual(plan("inspecting", { annotations }).do, "wait");
  assert.equal(to("provisioned", { annotations, status, deletedAt }), "deleting");
  const delay = { "baremetalhost.metal3.io/detached": '{"deleteAction":"delay"}' };
  assert.match(to("provisioned", { annotations: delay, status, deletedAt }), /detached, which delays the deletion/);
  assert.equal(to("provisioning", { annotations: delay, deletedAt }), "deprovisioning");
  const back = plan("available", { status });
  assert.equal(back.do === "write" && back.fields.operationalStatus, "OK");
});

test("by force a host is let alone in the middle of its work, goes on with it afterwards, and is deleted as it is", () => {
  const annotations = { "baremetalhost.metal3.io/detached": '{"force":true}' };
  const status = { operationalStatus: "detached", operation };
  for (const state of ["registering", "inspecting", "preparing", "provisioning", "deprovisioning"]) {
    assert.equal(to(state, { annotations }), state, "the state is kept");
    const told = plan(state, { annotations });
    assert.equal(told.do === "write" && told.fields.operationalStatus, "detached");
    assert.deepEqual(plan(state, { annotations, status }), { do: "wait" });
    assert.equal(to(state, { annotations, status, deletedAt }), "deleting");
    const back = plan(state, { status });
    assert.deepEqual(back.do === "write" && [back.fields.operationalStatus, back.fields.operation], ["OK", operation]);
  }
  const leaving = { annotations, deletedAt };
  for (const state of ["deprovisioning", "powering off before delete"]) {
    const told = plan(state, leaving);
    assert.equal(told.do === "write" && told.fields.operationalStatus, "detached", state);
    assert.equal(to(state, { ...leaving, status }), "deleting");
  }
  assert.equal(needsNetboot(factsFor("deprovisioning", leaving)), false);
  const delay = { "baremetalhost.metal3.io/detached": '{"force":true,"deleteAction":"delay"}' };
  assert.match(to("provisioning", { annotations: delay, status, deletedAt }), /detached, which delays the deletion/);
  assert.equal(to("deleting", leaving), "letGo");
});

test("reboots that were asked for before are dropped when a host is installed, or what it ran is removed", () => {
  const annotations = { "reboot.metal3.io": "", "reboot.metal3.io/fence": "{}", "reboot.metal3.iox": "" };
  for (const state of ["provisioning", "deprovisioning"])
    assert.deepEqual(
      plan(state, { annotations, spec: { image }, status: { lastAttemptedImage: image, operation } }),
      { do: "unannotate", annotations: ["reboot.metal3.io", "reboot.metal3.io/fence"] },
      state,
    );
});

test("a deletion gives a wipe up after three tries, three hours, or beside another host of its namespace that claims the machine", () => {
  const of = (more: Of): HostStep => plan("deprovisioning", { deletedAt, ...more });
  const tries = (attempt: number): HostStep =>
    of({ status: { operation: { ...operation, attempt }, errorMessage: "no agent" } });
  assert.notEqual(said(tries(3)), "NotWiped");
  const up = tries(4);
  assert.deepEqual([said(up), where(up)], ["NotWiped", "powering off before delete"]);
  assert.match(`${up.do === "write" && up.event?.message}`, /could NOT be wiped in 3 tries: no agent/);
  const since = (deleted: number, began?: number): HostStep =>
    of({
      deletedAt: iso(deleted),
      status: {
        operation,
        waitingFor: "an approval",
        ...(began && { operationHistory: { deprovision: { start: iso(began), end: null } } }),
      },
    });
  assert.notEqual(said(since(NOW - 3 * HOUR)), "NotWiped");
  const late = since(NOW - 3 * HOUR - 1);
  assert.match(`${late.do === "write" && late.event?.message}`, /in 3 hours; it waits for: an approval/);
  assert.notEqual(said(since(NOW - 4 * HOUR, NOW - 3 * HOUR)), "NotWiped");
  assert.equal(said(since(NOW - 4 * HOUR, NOW - 3 * HOUR - 1)), "NotWiped");
  assert.notEqual(said(since(NOW - 3 * HOUR, NOW - 5 * HOUR)), "NotWiped");
  assert.match(`${where(of({ rival: "metal/node-2" }))}`, /powering off/);
  for (const rival of ["team-b/node-2", "metal-2/node-2"]) {
    assert.match(where(of({ rival })), new RegExp(`^${rival}, which has a card of the same machine`));
    const times = { deletedAt: iso(NOW - 3 * HOUR - 1), status: { operation, waitingFor: rival } };
    const step = of({ rival, ...times });
    assert.match(`${step.do === "write" && step.event?.message}`, new RegExp(`in 3 hours; it waits for: ${rival}`));
  }
});

test("a power-off that nobody has seen is given up after three tries, and the event says so", () => {
  const tries = (attempt: number): HostStep =>
    plan("powering off before delete", {
      deletedAt,
      status: { operation: { ...operation, attempt }, errorMessage: "no BMC" },
    });
  assert.equal(tries(3).do, "power");
  assert.deepEqual([said(tries(4)), where(tries(4))], ["NotPoweredOff", "deleting"]);
});

test("a machine that another host has a card of is not taken, but its power is kept", () => {
  const rival = "metal/node-2";
  for (const state of ["inspecting", "preparing", "provisioning", "deprovisioning"])
    assert.match(to(state, { rival }), /^metal\/node-2, which has a card of the same machine/, state);
  assert.match(to("unmanaged", { rival, spec: { bmc: undefined }, bmc: undefined }), /^metal\/node-2/);
  assert.equal(to("available", { rival, status: { poweredOn: false } }), "available");
});

test("a status that was brought along is taken off once it was read", () => {
  const annotations = { "baremetalhost.metal3.io/status": "{}" };
  assert.deepEqual(plan("provisioned", { annotations }), {
    do: "unannotate",
    annotations: ["baremetalhost.metal3.io/status"],
  });
  assert.notEqual(plan("", { annotations }).do, "unannotate");
});

test("a deletion is done without netboot, but for a wipe that is not given up", () => {
  const needs = (state: string, of: Of = {}): boolean => needsNetboot(factsFor(state, of));
  assert.equal(needs("available"), true);
  assert.equal(needs("available", { deletedAt }), false);
  assert.equal(needs("deprovisioning", { deletedAt }), true);
  assert.equal(needs("deprovisioning", { deletedAt, status: { operation: { ...operation, attempt: 4 } } }), false);
  assert.equal(needs("deprovisioning", { deletedAt: iso(NOW - 3 * HOUR - 1) }), false);
});

test("a host whose BMC fails has an error while it is at rest, and stays in its state", () => {
  const bmc = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  const step = plan("available", { bmc, status: { goodCredentials: {} } });
  assert.ok(step.do === "write");
  assert.deepEqual([where(step), step.fields.errorType], ["available", "power management error"]);
  assert.equal(step.fields.errorCount, 1);
});
