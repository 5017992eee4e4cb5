import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../../machine.ts";
import { concernsAbout, wireOrder } from "./order.ts";

const account = { project: "proj_1", planMapping: { big: "c3-large-x86" }, metroMapping: { sg: "SGP" } };

function order(changes: Partial<Order> = {}): Order {
  return {
    claim: "c1",
    claimant: { apiVersion: "v1", kind: "Claimant", name: "a" },
    hostname: "pool-a",
    placement: { plan: "c3-small-x86", metro: "DAL" },
    operatingSystem: "custom_ipxe",
    boot: { scriptUrl: "https://boot.test/s", userData: "" },
    tags: [],
    ...changes,
  };
}

const fatal = (changes: Partial<Order>) =>
  concernsAbout(order(changes), account)
    .filter((concern) => concern.fatal)
    .map((concern) => concern.field);
const warned = (changes: Partial<Order>) =>
  concernsAbout(order(changes), account)
    .filter((concern) => !concern.fatal)
    .map((concern) => concern.field);

test("an order that Latitude can express raises no concern", () => {
  assert.deepEqual(
    concernsAbout(order({ billingCycle: "yearly", projectId: "proj_1", userSshKeys: ["ssh_1"] }), account),
    [],
  );
});

test("what would cost more or buy something else than was asked is refused", () => {
  assert.deepEqual(fatal({ spot: { maxPrice: "0.1" } }), ["spec.spot"]);
  assert.deepEqual(fatal({ reservation: "next-available" }), ["spec.hardwareReservation_id"]);
  assert.deepEqual(fatal({ projectId: "proj_2" }), ["spec.projectID"]);
  assert.deepEqual(fatal({ placement: { plan: "", metro: undefined, facility: ["ny5"] } }), [
    "spec.plan",
    "spec.metro",
  ]);
  assert.deepEqual(fatal({ boot: { scriptUrl: "", userData: "" } }), ["spec.operating_system"]);
});

test("what Latitude does not take is reported and not sent", () => {
  const extras: Partial<Order> = {
    placement: { plan: "p", metro: "m", facility: ["ny5"] },
    features: { tpm: "required" },
    customData: "{}",
    description: "d",
    tags: ["t"],
    alwaysPxe: true,
    publicIPv4SubnetSize: 29,
    billingCycle: "daily",
    boot: { scriptUrl: "http://b/s", userData: "#cloud-config" },
  };
  const fields = [
    "facility",
    "billingCycle",
    "userdata",
    "features",
    "customData",
    "description",
    "tags",
    "alwaysPxe",
    "publicIPv4SubnetSize",
  ];

  assert.deepEqual(
    warned(extras),
    fields.map((field) => `spec.${field}`),
  );
  assert.deepEqual(Object.keys(wireOrder(order(extras), account, { project: "proj_1", userData: "ud_1" })).sort(), [
    "billing",
    "hostname",
    "ipxe",
    "operating_system",
    "plan",
    "project",
    "site",
    "user_data",
  ]);
});

test("names are mapped as the account says, else written as Latitude writes them", () => {
  const sent = (placement: Order["placement"]) => {
    const { plan, site } = wireOrder(order({ placement }), account, { project: "p", userData: "u" });
    return [plan, site];
  };

  assert.deepEqual(sent({ plan: "big", metro: "sg" }), ["c3-large-x86", "SGP"]);
  assert.deepEqual(sent({ plan: "c3.small.x86", metro: "dal" }), ["c3-small-x86", "DAL"]);
  assert.deepEqual(sent({ plan: "constructor", metro: "mex2" }), ["constructor", "MEX2"]);
});

test("the boot script goes with iPXE only; billing and keys go as they were wished", () => {
  const sent = (changes: Partial<Order>) => wireOrder(order(changes), account, { project: "p", userData: "u" });

  assert.deepEqual([sent({}).operating_system, sent({}).ipxe], ["ipxe", "https://boot.test/s"]);
  const ubuntu = sent({ operatingSystem: "ubuntu_24_04" });
  assert.deepEqual([ubuntu.operating_system, ubuntu.ipxe], ["ubuntu_24_04_x64_lts", undefined]);
  assert.deepEqual(
    [sent({}).billing, sent({ billingCycle: "monthly" }).billing, sent({ billingCycle: "daily" }).billing],
    [undefined, "monthly", "hourly"],
  );
  assert.deepEqual(sent({ userSshKeys: ["a"], projectSshKeys: ["b"] }).ssh_keys, ["a", "b"]);
  assert.deepEqual(sent({ noSshKeys: true, userSshKeys: ["a"] }).ssh_keys, []);
  assert.equal(sent({}).ssh_keys, undefined);
});
