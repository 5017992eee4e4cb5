import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { good, renewed, tried } from "./credentials.ts";
import { bmcThat, factsOf } from "./testing.ts";

const spec = { bmc: { address: "redfish://bmc", credentialsName: "s" } };
const credentials = { name: "s", namespace: "metal" };

test("the Secret of a BMC is noted by its name and version: what was tried, and what was good", () => {
  const facts = factsOf("available", { spec });
  const noted = { credentials, credentialsVersion: "7" };
  assert.deepEqual(tried(facts, "7"), { triedCredentials: noted });
  assert.deepEqual(good(facts, "7"), { goodCredentials: noted, triedCredentials: noted });
});

test("another version that the BMC takes is written down, and the same is not", () => {
  const held = (credentialsVersion: string) => ({ goodCredentials: { credentials, credentialsVersion } });
  const of = (status: object) => renewed(factsOf("available", { spec, bmc: bmcThat("on"), status }));
  assert.equal(of(held("1")), undefined);
  assert.equal(of(held("0"))?.goodCredentials?.credentialsVersion, "1");
  assert.equal(of({})?.goodCredentials?.credentialsVersion, "1");
  const fails = { is: "fails", fault: new Fault("Unavailable", "bmc", "x"), credentials: "2" } as const;
  assert.equal(renewed(factsOf("available", { spec, bmc: fails, status: held("1") })), undefined);
  assert.equal(renewed(factsOf("available", { status: held("1") })), undefined);
});
