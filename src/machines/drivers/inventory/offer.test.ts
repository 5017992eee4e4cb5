import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import type { HostOffer } from "../../../kinds/slipway/machine-provider.ts";
import type { Order } from "../../machine.ts";
import { concernsAbout, wishOf } from "./offer.ts";

const OFFER: HostOffer = {
  namespaces: ["rack"],
  plans: {
    small: { hostSelector: { matchLabels: { size: "small" } } },
    large: {
      hostSelector: { matchExpressions: [{ key: "gpu", operator: "DoesNotExist" }] },
      hardware: { cpus: 16, memory: "64Gi", disk: "400G", architecture: "x86_64" },
    },
  },
  metros: { SG: { matchLabels: { metro: "sg" } } },
  topologyLabel: "rack",
  setAsideAfter: 2,
};

function order(changes: Partial<Order> = {}): Order {
  return {
    claim: "uid",
    claimant: { apiVersion: "v1", kind: "Claimant", name: "a" },
    hostname: "a",
    placement: { plan: "large", metro: "SG" },
    operatingSystem: "custom_ipxe",
    boot: { scriptUrl: "http://boot.test/s", userData: "" },
    tags: [],
    ...changes,
  };
}

const fields = (of: Order, offer: HostOffer = OFFER) =>
  concernsAbout(of, offer).map(({ field, fatal }) => `${field}${fatal ? " refused" : " ignored"}`);

test("plans and metros are those that the MachineProvider names", () => {
  assert.deepEqual(fields(order()), []);
  assert.deepEqual(fields(order({ placement: { plan: "huge", metro: "NY" } })), [
    "spec.plan refused",
    "spec.metro refused",
  ]);
  assert.deepEqual(fields(order({ placement: { plan: "toString", metro: undefined } })), ["spec.plan refused"]);
  const { metros: _, ...anywhere } = OFFER;
  assert.deepEqual(fields(order(), anywhere), ["spec.metro ignored"]);
});

test("what own hosts can't have is refused or ignored by its field", () => {
  const boot = { scriptUrl: "http://boot.test/s", userData: "#cloud-config" };
  assert.deepEqual(fields(order({ boot, spot: {}, reservation: "next-available" })), [
    "spec.userdata refused",
    "spec.spotInstance ignored",
    "spec.hardwareReservation_id ignored",
  ]);
});

test("H21 each field of an order that own hosts have no use for is ignored by its name, and one that says nothing is not", () => {
  const given: Partial<Order> = {
    ...{ billingCycle: "monthly", projectId: "p", tags: ["blue"], description: "workers", userSshKeys: ["k"] },
    ...{ features: { tpm: "required" }, customData: "{}", publicIPv4SubnetSize: 29, alwaysPxe: true },
  };
  const names = ["billingCycle", "projectID", "tags", "description", "sshKeys", "features", "customData"];
  assert.deepEqual(
    fields(order(given)),
    [...names, "publicIPv4SubnetSize", "alwaysPxe"].map((name) => `spec.${name} ignored`),
  );
  assert.deepEqual(fields(order({ projectSshKeys: ["k"] })), ["spec.sshKeys ignored"]);
  assert.deepEqual(fields(order({ sshPublicKeys: ["k"] })), ["spec.sshKeys ignored"]);
  assert.deepEqual(fields(order({ billingCycle: "hourly", features: {}, alwaysPxe: false, userSshKeys: [] })), []);
});

test("a plan's labels and hardware, and a metro's labels, must all hold; the group's racks are avoided", () => {
  const host = (group: string | undefined, rack: string): BareMetalHost =>
    ({
      metadata: { labels: { rack, ...(group !== undefined && { "slipway.dev/group": group }) } },
    }) as unknown as BareMetalHost;
  const hosts = [host("pool", "1"), host("pool", "1"), host("other", "2"), host(undefined, "3")];
  const wish = wishOf(order({ group: "pool" }), OFFER, hosts);
  assert.deepEqual(wish.namespaces, ["rack"]);
  assert.deepEqual(wish.labels?.matchExpressions, [
    { key: "metro", operator: "In", values: ["sg"] },
    { key: "gpu", operator: "DoesNotExist" },
  ]);
  assert.deepEqual(wish.hardware, {
    cpus: 16,
    memoryMebibytes: 64 * 1024,
    diskGibibytes: 400e9 / 2 ** 30,
    architecture: "x86_64",
  });
  assert.deepEqual(wish.spread, { label: "rack", taken: ["1", "1"] });
  assert.deepEqual(wishOf(order(), OFFER, hosts).spread?.taken, []);
});
