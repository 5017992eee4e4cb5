import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Facts } from "./facts.ts";
import { managePower, powerOff } from "./power-stage.ts";
import { at, bmcThat, factsOf, NOW } from "./testing.ts";

const GOOD = { goodCredentials: { credentialsVersion: "1" } };
const ON = { poweredOn: true, ...GOOD };
const OFF = { poweredOn: false, ...GOOD };

test("power is switched as the specification has it, by asking first and cutting after three minutes", () => {
  const on = managePower(factsOf("provisioned", { bmc: bmcThat("off"), status: OFF }));
  assert.deepEqual([on.do, on.do === "power" && on.action], ["power", "on"]);
  const spec = { online: false };
  const asked = managePower(factsOf("provisioned", { bmc: bmcThat("on"), spec, status: ON }));
  assert.deepEqual([asked.do, asked.do === "power" && asked.action], ["power", "soft-off"]);
  const operation = (poweredAt: string) => ({ ...ON, operation: { attempt: 1, startedAt: poweredAt, poweredAt } });
  const waits = managePower(factsOf("provisioned", { bmc: bmcThat("on"), spec, status: operation(at("11:57:01")) }));
  assert.deepEqual([waits.do, waits.do === "wait" && waits.forWhat], ["wait", "the host's system to end"]);
  const cut = managePower(factsOf("provisioned", { bmc: bmcThat("on"), spec, status: operation(at("11:57:00")) }));
  assert.deepEqual([cut.do, cut.do === "power" && cut.action], ["power", "off"]);
});

test("a host that nobody wants on is switched off at once where no system of a user's runs: nobody hears the power button", () => {
  const machine = { session: { registeredAt: NOW - 600_000, spokeAt: NOW - 1_000 } } as unknown as Facts["machine"];
  const of = { bmc: bmcThat("on"), spec: { online: false }, status: ON };
  const action = (step: ReturnType<typeof managePower>): unknown => step.do === "power" && step.action;
  assert.equal(action(managePower(factsOf("available", of))), "off");
  assert.equal(action(managePower(factsOf("provisioned", { ...of, machine }))), "off");
  const left = { ...ON, operationHistory: { provision: { start: at("11:50:00"), end: at("11:59:55") } } };
  assert.equal(action(managePower(factsOf("provisioned", { ...of, status: left, machine }))), "soft-off");
});

test("a host whose power is not to be cut stays on, and one on its way is waited for", () => {
  const spec = { online: false, disablePowerOff: true };
  assert.equal(managePower(factsOf("provisioned", { bmc: bmcThat("on"), spec, status: ON })).do, "wait");
  for (const power of ["turning-on", "turning-off"] as const) {
    const step = managePower(factsOf("provisioned", { bmc: bmcThat(power), status: ON }));
    assert.deepEqual([step.do, step.do === "wait" && step.forWhat], ["wait", `the host's power, which is ${power}`]);
  }
});

test("a host with a BMC is looked at again, one without is not, and neither waits for anything", () => {
  const withBmc = managePower(factsOf("provisioned", { bmc: bmcThat("on"), status: ON }));
  assert.deepEqual(withBmc, { do: "wait", recheckMs: 60_000 });
  assert.deepEqual(managePower(factsOf("provisioned", { status: ON })), { do: "wait" });
});

test("credentials that the BMC has taken in another version than before are written down once", () => {
  const step = managePower(
    factsOf("provisioned", { bmc: bmcThat("on"), status: { ...ON, goodCredentials: undefined } }),
  );
  const good = step.do === "write" ? step.fields.goodCredentials : undefined;
  assert.deepEqual(good, { credentials: { name: undefined, namespace: "metal" }, credentialsVersion: "1" });
  const after = managePower(factsOf("provisioned", { bmc: bmcThat("on"), status: { ...ON, goodCredentials: good } }));
  assert.equal(after.do, "wait");
});

test("a BMC that can't be asked is an error once, and then waited for", () => {
  const bmc = { is: "fails", fault: new Fault("Unavailable", "bmc", "no answer") } as const;
  const first = managePower(factsOf("provisioned", { bmc, status: ON }));
  assert.equal(first.do, "write");
  const { advice } = bmc.fault;
  const then = managePower(factsOf("provisioned", { bmc, status: { ...ON, errorMessage: advice } }));
  assert.deepEqual(then, { do: "wait", forWhat: advice, recheckMs: 60_000 });
});

/** What is done with a host that has these annotations. */
function annotated(
  annotations: Record<string, string>,
  more: Parameters<typeof factsOf>[1],
  state: "provisioned" | "available" = "provisioned",
) {
  const facts = factsOf(state, more);
  facts.host.metadata.annotations = annotations;
  return managePower(facts);
}

test("a reboot that was asked for ends the system, softly or at once, and is over when the host is seen off", () => {
  const on = { bmc: bmcThat("on"), status: ON };
  const soft = annotated({ "reboot.metal3.io": "" }, on);
  assert.equal(soft.do === "power" && soft.action, "soft-off");
  const hard = annotated({ "reboot.metal3.io": '{"mode":"hard"}' }, on);
  assert.equal(hard.do === "power" && hard.action, "off");
  const off = { bmc: bmcThat("off"), status: OFF };
  assert.deepEqual(annotated({ "reboot.metal3.io": "" }, off), { do: "unannotate", annotations: ["reboot.metal3.io"] });
});

test("a host that must not be switched off is restarted in one go, though whoever announced it has died, and not held off", () => {
  const spec = { disablePowerOff: true };
  const once = "reboot.metal3.io";
  const both = { [once]: '{"mode":"hard"}', "reboot.metal3.io/fence": "" };
  const on = { bmc: bmcThat("on"), spec, status: ON };
  const first = annotated(both, on);
  assert.deepEqual(first.do === "power" && [first.action, first.announce.operation?.poweredAt], [
    "restart",
    at("12:00:00.000"),
  ]);
  const operation = { attempt: 1, startedAt: at("11:59:00"), poweredAt: at("11:59:00") };
  const announced = { ...on, status: { ...ON, operation } };
  assert.equal(annotated(both, { ...announced, isStarted: () => false }).do, "power");
  assert.deepEqual(annotated(both, announced), { do: "unannotate", annotations: [once] });
  assert.equal(annotated({ "reboot.metal3.io/fence": "" }, on).do, "wait");
});

test("a host on which nothing is provisioned is restarted by force alone", () => {
  const on = { bmc: bmcThat("on"), status: ON };
  for (const value of ["", '{"mode":"hard"}', '{"force":"yes"}'])
    assert.equal(annotated({ "reboot.metal3.io": value }, on, "available").do, "wait", value);
  const forced = annotated({ "reboot.metal3.io": '{"mode":"hard","force":true}' }, on, "available");
  assert.equal(forced.do === "power" && forced.action, "off");
  const off = { bmc: bmcThat("off"), status: OFF };
  const started = annotated({ "reboot.metal3.io/fence": "" }, off, "available");
  assert.equal(started.do === "power" && started.action, "on");
  assert.deepEqual(annotated({ "reboot.metal3.io": "" }, off, "available"), {
    do: "unannotate",
    annotations: ["reboot.metal3.io"],
  });
});

test("a BMC that says something else each time has it told every half minute, and the wait shows what was told last", () => {
  const told = (since: string) => {
    const fault = new Fault("Unavailable", "bmc", `error ${since}`);
    const status = { ...ON, errorMessage: "bmc: error 0", waitingFor: "bmc: error 0", waitingSince: at(since) };
    return managePower(factsOf("provisioned", { bmc: { is: "fails", fault }, status }));
  };
  assert.deepEqual(told("11:59:31"), { do: "wait", forWhat: "bmc: error 0", recheckMs: 1_000 });
  assert.equal(told("11:59:30").do, "write");
});

test("a host that somebody holds off stays off, says who does, and is switched on when nobody does any more", () => {
  const off = { bmc: bmcThat("off"), status: OFF };
  const held = annotated({ "reboot.metal3.io/fence": "", "reboot.metal3.io/other": "" }, off);
  assert.deepEqual(held, {
    do: "wait",
    forWhat: "the owners of reboot.metal3.io/fence, reboot.metal3.io/other to take them off",
    recheckMs: 60_000,
  });
  const on = annotated({}, off);
  assert.equal(on.do === "power" && on.action, "on");
});

test("what is asked of the power is over when the power is seen, which is written down first", () => {
  const operation = { attempt: 1, startedAt: at("11:50:00"), poweredAt: at("11:59:00") };
  const seen = managePower(factsOf("provisioned", { bmc: bmcThat("off"), status: { ...ON, operation } }));
  assert.deepEqual(seen.do === "write" && [seen.fields.poweredOn, seen.fields.operation], [false, undefined]);
  const over = managePower(factsOf("provisioned", { bmc: bmcThat("on"), status: { ...ON, operation } }));
  assert.deepEqual(over.do === "write" && over.fields.operation, undefined);
  assert.equal(over.do, "write");
});

test("a system that runs from the drive has its image put in again at each start", () => {
  const image = { url: "http://images/live.iso", format: "live-iso" };
  const provisioning = { state: "provisioned", ID: "id", image };
  const start = (spec: object, status: object) =>
    managePower(factsOf("provisioned", { bmc: bmcThat("off"), spec, status }));
  const live = start({ image }, { ...OFF, provisioning });
  assert.equal(live.do === "power" && live.from, "media");
  const other = start({ image }, { ...OFF, provisioning: { ...provisioning, state: "available" } });
  assert.equal(other.do === "power" && "from" in other, false);
});

test("without a BMC a host counts as on in the agent, and once it is not offered", () => {
  const poweredOn = (state: string, more: Parameters<typeof factsOf>[1] = {}) => {
    const step = managePower(factsOf(state, { ...more, status: { poweredOn: state === "available" } }));
    return step.do === "write" ? step.fields.poweredOn : "as it is";
  };
  assert.deepEqual([poweredOn("available"), poweredOn("provisioned")], [false, true]);
  const machine = {
    session: { spokeAt: Date.parse(at("11:59:30")), registeredAt: Date.parse(at("11:00:00")) },
  } as never;
  assert.equal(poweredOn("available", { machine }), "as it is");
});

test("why a BMC can't be asked decides which error it is, and with which event, by what the host is used for", () => {
  const errorOf = (code: ConstructorParameters<typeof Fault>[0], state: string, status: object = GOOD) => {
    const bmc = { is: "fails", fault: new Fault(code, "bmc", "no") } as const;
    const step = managePower(factsOf(state, { bmc, status: { ...status, provisioning: { state, ID: "" } } }));
    return step.do === "write" && [step.fields.errorType, step.event?.reason];
  };
  const power = ["power management error", "PowerManagementError"];
  const registration = ["registration error", "RegistrationError"];
  const inUse = ["provisioned registration error", "ProvisionedRegistrationError"];
  for (const state of ["available", "provisioned"]) assert.deepEqual(errorOf("Unavailable", state), power, state);
  for (const code of ["BadCredentials", "MissingInput", "Invalid"] as const) {
    assert.deepEqual(errorOf(code, "available"), registration, code);
    assert.deepEqual(errorOf(code, "provisioned"), inUse, code);
    assert.deepEqual(errorOf(code, "externally provisioned"), inUse, code);
  }
  assert.deepEqual(errorOf("Unavailable", "available", {}), registration);
  assert.deepEqual(errorOf("Unavailable", "provisioned", {}), inUse);
});

test("a host is off when its BMC says so; without one, or where it must not be switched off, nobody waits for that", () => {
  const off = (more: Parameters<typeof factsOf>[1]) => powerOff(factsOf("powering off before delete", more));
  assert.equal(off({ bmc: bmcThat("off") }), undefined);
  assert.equal(off({}), undefined);
  assert.equal(off({ bmc: bmcThat("on"), spec: { disablePowerOff: true } }), undefined);
  const on = off({ bmc: bmcThat("on") });
  assert.equal(on?.do === "power" && on.action, "off");
  assert.equal(off({ bmc: bmcThat("turning-on") })?.do, "power");
  assert.equal(off({ bmc: bmcThat("turning-off") })?.do, "wait");
  const fails = off({ bmc: { is: "fails", fault: new Fault("Unavailable", "bmc", "no", { remedy: "look" }) } });
  assert.deepEqual(fails?.do === "write" && [fails.fields.errorType, fails.event?.message], [
    "power management error",
    "bmc: no; look",
  ]);
});
