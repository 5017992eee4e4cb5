import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { managePower } from "./power-stage.ts";
import { at, bmcThat, factsOf } from "./testing.ts";

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
