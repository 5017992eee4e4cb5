import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instance, InstanceSpec } from "../../kinds/harvester/instance.ts";
import { claimOf, networkOf, orderOf, passesOf, placementsOf, specConcerns } from "./claim.ts";

const order = (spec: InstanceSpec, onDemand = false) => {
  const instance = { metadata: { name: "rack-a", uid: "u-1" }, spec } as unknown as Instance;
  const boot = { scriptUrl: "https://boot.example/s", userData: "" };
  return orderOf(instance, { placement: { plan: "p", metro: "SG" }, boot, onDemand });
};

test("SSH keys go with the order, one as well as several; where there are none, the order has no field for them", () => {
  for (const keys of [["k-1"], ["k-1", "k-2"]]) {
    assert.deepEqual(order({ projectsshKeys: keys }).projectSshKeys, keys);
    assert.deepEqual(order({ usersshKeys: keys }).userSshKeys, keys);
  }
  assert.deepEqual(order({ projectsshKeys: [null, "k-1"] }).projectSshKeys, ["k-1"]);
  for (const none of [undefined, null, [], [null]]) {
    const made = order({
      ...(none !== undefined && {
        projectsshKeys: none as unknown as string[],
        usersshKeys: none as unknown as string[],
      }),
    });
    assert.ok(!("projectSshKeys" in made) && !("userSshKeys" in made), String(none));
  }
});

test("what is set to false is ordered as false, and what is not set is not in the order", () => {
  for (const value of [true, false]) {
    const { noSshKeys, alwaysPxe } = order({ nosshKeys: value, alwaysPxe: value });
    assert.deepEqual([noSshKeys, alwaysPxe], [value, value]);
  }
  const made = order({});
  for (const field of ["noSshKeys", "alwaysPxe", "publicIPv4SubnetSize"]) assert.ok(!(field in made), field);
});

test("a spot machine is ordered at the price that was set, at any price where none was, and on demand as an ordinary one", () => {
  assert.deepEqual(order({ spotInstance: true, spotPriceMax: "500m" }).spot, { maxPrice: "0.5" });
  for (const unset of ["0", "", null, undefined])
    assert.deepEqual(order({ spotInstance: true, ...(unset !== undefined && { spotPriceMax: unset }) }).spot, {});
  assert.equal(order({ spotInstance: true, spotPriceMax: "500m" }, true).spot, undefined);
  assert.equal(order({ spotPriceMax: "500m" }).spot, undefined);
});

test("H22 every metro of the first plan is tried before the second plan, none of them twice", () => {
  assert.deepEqual(placementsOf({ plan: "a", plans: ["b", "a"], metro: "SG", metros: ["NY", "SG"] }), [
    { plan: "a", metro: "SG" },
    { plan: "a", metro: "NY" },
    { plan: "b", metro: "SG" },
    { plan: "b", metro: "NY" },
  ]);
  assert.deepEqual(placementsOf({ plan: "a", facility: ["sg1"] }), [
    { plan: "a", metro: undefined, facility: ["sg1"] },
  ]);
});

test("H30 a machine is installed by its first boot, unless its ports must change first or its NIC must be asked for", () => {
  assert.equal(passesOf({}, undefined), 1);
  assert.equal(passesOf({ managementInterfaces: ["eth0"] }, undefined), 1);
  assert.equal(passesOf({ managementInterfaces: ["eth1"] }, undefined), 2);
  assert.equal(passesOf({ managementInterfaces: ["eth0", "eth1"] }, undefined), 2);
  assert.equal(passesOf({ ipxeScriptUrl: "https://x.example/s" }, undefined), 2);
  for (const mode of ["layer2-bonded", "layer2-individual"] as const)
    assert.equal(passesOf({}, { mode, vlans: [] }), 2, mode);
  assert.equal(passesOf({}, { mode: "hybrid-bonded", vlans: [] }), 1);
  assert.equal(passesOf({ installMode: "OneBoot", managementInterfaces: ["eth1"] }, undefined), 1);
  assert.equal(passesOf({ installMode: "TwoPass" }, undefined), 2);
});

test("keys without a value are left out of an order's features", () => {
  const features = { tpm: "required", sgx: null } as unknown as Record<string, string>;
  assert.deepEqual(order({ features }).features, { tpm: "required" });
});

test("H10 a machine has 30 minutes to be handed over and an hour to join, or what the pool says", () => {
  const claim = (spec: InstanceSpec) => {
    const { provisionTimeoutMs, joinTimeoutMs } = claimOf({ metadata: { uid: "u" }, spec } as unknown as Instance);
    return [provisionTimeoutMs / 60_000, joinTimeoutMs / 60_000];
  };
  assert.deepEqual(claim({}), [30, 60]);
  assert.deepEqual(claim({ provisionTimeout: "5m", joinTimeout: "1h30m" }), [5, 90]);
  assert.deepEqual(claim({ provisionTimeout: "soon", joinTimeout: "-5m" }), [30, 60]);
  assert.deepEqual(claim({ provisionTimeout: "0s", joinTimeout: "0s" }), [0, 0]);
});

test("H21 a specification that can't work is refused with its field and an example of what would", () => {
  const fields = (spec: InstanceSpec) => specConcerns(spec).map(({ field, fatal }) => (fatal ? field : `${field}?`));
  assert.deepEqual(fields({}), ["spec.plan"]);
  assert.deepEqual(fields({ plans: ["p"] }), []);
  const plan = { plan: "p" };
  assert.deepEqual(fields({ ...plan, networkingConfiguration: { type: "layer9" } }), [
    "spec.networkingConfiguration.type",
  ]);
  assert.deepEqual(fields({ ...plan, networkingConfiguration: { type: "hybrid" } }), []);
  for (const field of ["nodeCleanupWaitInterval", "provisionTimeout", "joinTimeout"] as const) {
    assert.deepEqual(fields({ ...plan, [field]: "soon" }), [`spec.${field}`]);
    assert.deepEqual(fields({ ...plan, [field]: "5m" }), []);
  }
  assert.deepEqual(fields({ ...plan, drain: { timeout: "soon" } }), ["spec.drain.timeout"]);
  assert.deepEqual(fields({ ...plan, drain: { timeout: "5m" } }), []);
  for (const price of ["cheap", "-1"])
    assert.deepEqual(fields({ ...plan, spotPriceMax: price }), ["spec.spotPriceMax"]);
  assert.deepEqual(fields({ ...plan, spotPriceMax: "500m" }), []);
});

test("ports are wished for where a mode or an interface is given, VLANs made only where that is asked for", () => {
  assert.equal(networkOf({}), undefined);
  assert.equal(networkOf({ networkingConfiguration: {} }), undefined);
  assert.equal(networkOf({ networkingConfiguration: { interfaceConfiguration: [] } }), undefined);
  assert.deepEqual(networkOf({ networkingConfiguration: { type: "hybrid" } }), { mode: "hybrid", vlans: [] });
  const interfaceConfiguration = [{ name: "eth1", vlanIDS: ["1001", null] }] as never;
  assert.deepEqual(networkOf({ networkingConfiguration: { interfaceConfiguration, createVLANs: true } }), {
    mode: undefined,
    vlans: [{ port: "eth1", vlans: ["1001"] }],
    createVlans: true,
  });
});

test("H21 what the pool says of billing, project, words, reservation, data and addresses is in the order, and else is not", () => {
  const spec = {
    ...{
      billingCycle: "monthly",
      projectID: "p1",
      description: "words",
      hardwareReservation_id: "r1",
      customData: "{}",
    },
    ...{ publicIPv4SubnetSize: 0, operating_system: "ubuntu", tags: ["a", null] as never },
  } as InstanceSpec;
  const { billingCycle, projectId, description, reservation, customData, publicIPv4SubnetSize, operatingSystem, tags } =
    order(spec);
  assert.deepEqual(
    [billingCycle, projectId, description, reservation, customData, publicIPv4SubnetSize, operatingSystem, tags],
    ["monthly", "p1", "words", "r1", "{}", 0, "ubuntu", ["a"]],
  );
  const plain = order({});
  for (const field of ["billingCycle", "projectId", "description", "reservation", "customData", "features", "spot"])
    assert.ok(!(field in plain), field);
  assert.deepEqual(
    [plain.operatingSystem, plain.tags, plain.claim, plain.hostname],
    ["custom_ipxe", [], "u-1", "rack-a"],
  );
});
