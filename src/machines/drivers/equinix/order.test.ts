import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../../machine.ts";
import { concernsAbout, wireOrder } from "./order.ts";
import { metroOf } from "./placement.ts";

const PROJECT = "5afe0000-0000-4000-8000-000000000001";
const ACCOUNT = { project: PROJECT, planMapping: { small: "c3.small.x86" }, metroMapping: { singapore: "sg" } };

function order(changes: Partial<Order> = {}): Order {
  return {
    claim: "uid-1",
    claimant: { apiVersion: "v1", kind: "Claimant", name: "a" },
    hostname: "pool-a",
    placement: { plan: "c3.small.x86", metro: "sg" },
    operatingSystem: "custom_ipxe",
    boot: { scriptUrl: "https://boot.test/s", userData: "#cloud-config\n" },
    tags: ["mine"],
    ...changes,
  };
}

test("an ordinary order raises no concern", () => {
  assert.deepEqual(concernsAbout(order(), ACCOUNT), []);
});

test("a reserved machine, one of the spot market and features that are required or preferred raise no concern", () => {
  const features = { tpm: "required", raid: "preferred" };
  for (const one of [{ reservation: "next-available" }, { spot: { maxPrice: "0.5" } }, { spot: {} }, { features }])
    assert.deepEqual(concernsAbout(order(one), ACCOUNT), []);
});

test("H21 what the API would refuse or ignore is said beforehand, by the manifest's field", () => {
  const table: [Partial<Order>, string, boolean][] = [
    [{ placement: { plan: "c3.small.x86", metro: undefined } }, "spec.metro", true],
    [{ placement: { plan: "", metro: "sg" } }, "spec.plan", true],
    [{ operatingSystem: "", boot: { scriptUrl: "", userData: "" } }, "spec.operating_system", true],
    [{ billingCycle: "weekly" }, "spec.billingCycle", true],
    [{ projectId: "0b5e0000-0000-4000-8000-000000000000" }, "spec.projectID", true],
    [{ customData: "{not json" }, "spec.customData", true],
    [{ customData: "[1]" }, "spec.customData", true],
    [{ spot: { maxPrice: "cheap" } }, "spec.spotPriceMax", true],
    [{ spot: {}, reservation: "next-available" }, "spec.hardwareReservation_id", true],
    [{ features: { tpm: "maybe" } }, "spec.features", true],
    [{ noSshKeys: true, userSshKeys: ["k"] }, "spec.nosshKeys", false],
    [{ operatingSystem: "ubuntu_24_04" }, "spec.operating_system", false],
    [{ boot: { scriptUrl: "https://boot.test/s", userData: "#!ipxe\n" } }, "spec.userdata", false],
  ];
  for (const [changes, field, fatal] of table) {
    const concerns = concernsAbout(order(changes), ACCOUNT);
    assert.deepEqual(
      concerns.map((concern) => [concern.field, concern.fatal]),
      [[field, fatal]],
      JSON.stringify(changes),
    );
  }
});

test("H24 a facility is not sent: the user is reported, and its metro is used", () => {
  const old = order({ placement: { plan: "c3.small.x86", metro: undefined, facility: ["any", "ny5"] } });
  assert.deepEqual(
    concernsAbout(old, ACCOUNT).map(({ field, fatal }) => ({ field, fatal })),
    [{ field: "spec.facility", fatal: false }],
  );
  assert.match(concernsAbout(old, ACCOUNT)[0]!.message, /metro ny is used instead/);
  assert.equal(wireOrder(old, ACCOUNT).metro, "ny");
  assert.ok(!("facility" in wireOrder(old, ACCOUNT)));
});

test("H24 a facility's metro follows from its code where the code shows", () => {
  const table = {
    ny5: "ny",
    da11: "da",
    am6: "am",
    ewr1: "ny",
    sjc1: "sv",
    SV15: "sv",
    any: undefined,
    xyz1: undefined,
    "": undefined,
  };
  for (const [facility, metro] of Object.entries(table)) assert.equal(metroOf(facility), metro, facility);
});

test("H21 every field of an order reaches the create call", () => {
  const full = order({
    placement: { plan: "small", metro: "singapore" },
    projectId: PROJECT,
    billingCycle: "hourly",
    description: "a node",
    spot: { maxPrice: "0.5" },
    userSshKeys: ["u"],
    projectSshKeys: ["p"],
    features: { tpm: "required", raid: "preferred" },
    customData: '{"a":1}',
    publicIPv4SubnetSize: 31,
    alwaysPxe: true,
    noSshKeys: false,
  });
  assert.deepEqual(wireOrder(full, ACCOUNT), {
    metro: "sg",
    plan: "c3.small.x86",
    operating_system: "custom_ipxe",
    hostname: "pool-a",
    tags: ["slipway:claim:uid-1", "mine"],
    billing_cycle: "hourly",
    description: "a node",
    userdata: "#cloud-config\n",
    ipxe_script_url: "https://boot.test/s",
    always_pxe: true,
    spot_instance: true,
    spot_price_max: 0.5,
    features: { tpm: "required", raid: "preferred" },
    customdata: { a: 1 },
    user_ssh_keys: ["u"],
    project_ssh_keys: ["p"],
    public_ipv4_subnet_size: 31,
  });
});

test("features that are all required take the document's list form", () => {
  assert.deepEqual(wireOrder(order({ features: { tpm: "required" } }), ACCOUNT).features, ["tpm"]);
});

test("a spot order without a price, or with none to speak of, leaves the limit to the API", () => {
  for (const spot of [{}, { maxPrice: "0" }]) {
    const wire = wireOrder(order({ spot }), ACCOUNT);
    assert.deepEqual([wire.spot_instance, wire.spot_price_max], [true, undefined]);
  }
});

test("a name in a mapping is no more than a name", () => {
  const wire = wireOrder(order({ placement: { plan: "constructor", metro: "sg" } }), ACCOUNT);
  assert.equal(wire.plan, "constructor");
});
