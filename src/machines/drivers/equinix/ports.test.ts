import assert from "node:assert/strict";
import { test } from "node:test";
import type { NetworkWish, Port } from "../../machine.ts";
import { portSteps } from "./ports.ts";

function bond(name: string, networkType: string, vlans: string[] = []): Port {
  return port(name, { kind: "bond", networkType, vlans, bonded: true });
}

function eth(name: string, inBond: string, bonded = true, vlans: string[] = []): Port {
  return port(name, { kind: "physical", bond: inBond, bonded, vlans });
}

function port(name: string, facts: Partial<Port>): Port {
  const unset = { mac: undefined, bond: undefined, networkType: undefined, nativeVlan: undefined };
  return { id: `id-${name}`, name, kind: "physical", bonded: false, disbondable: true, vlans: [], ...unset, ...facts };
}

const FRESH = [bond("bond0", "layer3"), eth("eth0", "bond0"), eth("eth1", "bond0")];

function shown(ports: readonly Port[], wish: Partial<NetworkWish>): string[] {
  return portSteps(ports, { mode: undefined, vlans: [], ...wish }).map((step) =>
    [step.do, step.name, "vlan" in step ? step.vlan : "bulk" in step && step.bulk ? "bulk" : ""].join(" ").trim(),
  );
}

test("H15 a wish without a mode and without VLANs asks for nothing", () => {
  assert.deepEqual(shown(FRESH, {}), []);
});

test("H15 the steps from a fresh machine are the missing ones, in order", () => {
  assert.deepEqual(shown(FRESH, { mode: "layer3" }), []);
  assert.deepEqual(shown(FRESH, { mode: "hybrid" }), ["disbond eth1"]);
  assert.deepEqual(shown(FRESH, { mode: "layer2-bonded" }), ["layer-2 bond0"]);
  assert.deepEqual(shown(FRESH, { mode: "layer2-individual" }), ["disbond eth0 bulk", "layer-2 bond0"]);
  const vlans = [{ port: "bond0", vlans: ["1001", "1001"] }];
  assert.deepEqual(shown(FRESH, { mode: "hybrid-bonded", vlans }), ["assign bond0 1001"]);
});

test("H15 VLANs leave a bond before it becomes layer 3, and those that are wished come back", () => {
  const flat = [bond("bond0", "layer2-bonded", ["1", "2"]), eth("eth0", "bond0"), eth("eth1", "bond0")];
  const vlans = [{ port: "bond0", vlans: ["2"] }];
  assert.deepEqual(shown(flat, { mode: "hybrid-bonded", vlans }), [
    "unassign bond0 1",
    "unassign bond0 2",
    "layer-3 bond0",
    "assign bond0 2",
  ]);
});

test("H15 individual ports are bonded before the bond becomes layer 3", () => {
  const apart = [bond("bond0", "layer2-individual"), eth("eth0", "bond0", false), eth("eth1", "bond0", false)];
  assert.deepEqual(shown(apart, { mode: "layer3" }), ["bond eth0", "bond eth1", "layer-3 bond0"]);
  assert.deepEqual(shown(apart, { mode: "hybrid" }), ["bond eth0", "layer-3 bond0"]);
});

test("a surplus native VLAN is cleared before it is removed", () => {
  const ports = [...FRESH.slice(0, 2), { ...eth("eth1", "bond0", false, ["1", "2"]), nativeVlan: "1" }];
  const vlans = [{ port: "eth1", vlans: ["2"] }];
  assert.deepEqual(shown(ports, { mode: "hybrid", vlans }), ["clear-native eth1", "unassign eth1 1"]);
});

test("without a mode a port that is not named keeps its VLANs; with one it does not", () => {
  const ports = [...FRESH.slice(0, 2), eth("eth1", "bond0", false, ["7"])];
  const vlans = [{ port: "bond0", vlans: ["1"] }];
  assert.deepEqual(shown(ports, { vlans }), ["assign bond0 1"]);
  assert.deepEqual(shown(ports, { mode: "hybrid", vlans }), ["unassign eth1 7", "assign bond0 1"]);
});

test("a port that can't leave its bond is not asked to", () => {
  const stuck = [FRESH[0]!, FRESH[1]!, { ...FRESH[2]!, disbondable: false }];
  assert.deepEqual(shown(stuck, { mode: "hybrid" }), []);
});

test("with four ports every bond becomes layer 2, only the first becomes layer 3 again", () => {
  const four = [
    bond("bond0", "layer3"),
    bond("bond1", "layer3"),
    ...["eth0", "eth1"].map((name) => eth(name, "bond0")),
    ...["eth2", "eth3"].map((name) => eth(name, "bond1")),
  ];
  assert.deepEqual(shown(four, { mode: "layer2-bonded" }), ["layer-2 bond0", "layer-2 bond1"]);
  assert.deepEqual(shown(four, { mode: "hybrid" }), ["disbond eth1", "disbond eth3"]);
  const flat = four.map((one) => (one.kind === "bond" ? { ...one, networkType: "layer2-bonded" } : one));
  assert.deepEqual(shown(flat, { mode: "layer3" }), ["layer-3 bond0"]);
});

test("interleaved pairs are distinguished by the bond each port names", () => {
  const four = [
    bond("bond0", "layer3"),
    bond("bond1", "layer2-bonded"),
    ...["eth0", "eth2"].map((name) => eth(name, "bond0")),
    ...["eth1", "eth3"].map((name) => eth(name, "bond1")),
  ];
  assert.deepEqual(shown(four, { mode: "hybrid" }), ["disbond eth1 bulk"]);
});
