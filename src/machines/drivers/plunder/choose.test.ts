import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostChoice, Order } from "../../machine.ts";
import { chooseFrom, concernsAbout, needsHardware } from "./choose.ts";
import type { WaitingMachine } from "./wire.ts";

const [A, B, C] = ["52:54:00:00:00:0a", "52:54:00:00:00:0b", "52:54:00:00:00:0c"] as const;
const GIB = 2 ** 30;
const hardware = { cpus: 4, memoryBytes: 8 * GIB, diskBytes: 100 * GIB, architecture: "x86_64" as const };
const waiting = (mac: string, more: Partial<WaitingMachine> = {}): WaitingMachine => ({
  ...{ mac, macs: [mac], isTrusted: true },
  ...more,
});
function chosen(machines: readonly WaitingMachine[], host: HostChoice = {}, claim = "c-1") {
  const { fitting, others } = chooseFrom(machines, { claim, host });
  return [fitting.map(({ mac }) => mac).toSorted(), others];
}

test("N38 who names no machine gets one that the netboot trusts; who names one by a MAC address gets that one", () => {
  const machines = [waiting(A), waiting(B, { isTrusted: false }), waiting(C, { macs: [C, "52:54:00:00:00:0d"] })];
  assert.deepEqual(chosen(machines), [[A, C], "1 are not approved at the netboot"]);
  const rest = "2 have another MAC address";
  assert.deepEqual(chosen(machines, { macs: [B] }), [[B], rest]);
  assert.deepEqual(chosen(machines, { macs: ["52-54-00-00-00-0D"] }), [[C], rest]);
  assert.deepEqual(chosen(machines, { macs: ["nonsense"] }), [[], "3 have another MAC address"]);
  assert.deepEqual(chosen([]), [[], "none waits"]);
});

for (const [what, least, why] of [
  ["as many processors as it has", { cpus: 4 }, undefined],
  ["more processors", { cpus: 5 }, "1 have fewer than 5 processors"],
  ["as much memory as it has", { memory: "8Gi" }, undefined],
  ["more memory", { memory: "9Gi" }, "1 have less than 9Gi of memory"],
  ["a disk of the size that it has", { disk: "100Gi" }, undefined],
  ["a larger disk", { disk: "101Gi" }, "1 have no disk of 101Gi"],
  ["its architecture", { architecture: "x86_64" }, undefined],
  ["another architecture", { architecture: "aarch64" }, "1 are not aarch64"],
] as const)
  test(`N38 a machine is taken by its size, or named: ${what}`, () => {
    const expected = why === undefined ? [[A], "none waits"] : [[], why];
    assert.deepEqual(chosen([waiting(A, { hardware })], { hardware: least }), expected);
  });

test("N38 a machine that has shown no hardware is taken by nobody who asks for some", () => {
  assert.deepEqual(chosen([waiting(A)], { hardware: { cpus: 1 } }), [[], "1 have shown no hardware"]);
  assert.deepEqual(
    [needsHardware({ host: { hardware: { cpus: 1 } } }), needsHardware({ host: { hardware: {} } })],
    [true, false],
  );
  assert.equal(needsHardware({}), false);
});

test("N38 the same claim tries machines in the same order, others begin elsewhere, and each tries all", () => {
  const machines = [waiting(A), waiting(B), waiting(C)];
  const order = (claim: string) => chooseFrom(machines, { claim }).fitting.map(({ mac }) => mac);
  assert.deepEqual(order("c-1"), order("c-1"));
  const all = Array.from({ length: 30 }, (_, n) => order(`c-${n}`));
  assert.deepEqual(new Set(all.map(([first]) => first)), new Set([A, B, C]));
  for (const one of all) assert.deepEqual(one.toSorted(), [A, B, C]);
});

test("N36 what a netboot can't heed of an order is refused by its field; a failure domain alone is passed over", () => {
  const order = (more: object): Order =>
    ({ placement: { plan: "", metro: undefined }, boot: { scriptUrl: "", userData: "" }, ...more }) as unknown as Order;
  const said = (more: object) => concernsAbout(order(more)).map(({ field, fatal }) => [field, fatal]);
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ host: { labels: { matchLabels: {}, matchExpressions: [] } } }), []);
  assert.deepEqual(said({ placement: { plan: "big", metro: "r1" } }), [
    ["spec.plan", true],
    ["spec.failureDomain", false],
  ]);
  assert.deepEqual(said({ host: { labels: { matchLabels: { a: "b" } } } }), [["spec.hostSelector", true]]);
  assert.deepEqual(said({ host: { labels: { matchExpressions: [{ key: "a", operator: "Exists" }] } } }), [
    ["spec.hostSelector", true],
  ]);
  assert.deepEqual(said({ boot: { scriptUrl: "", userData: "x" } }), [["spec.userdata", true]]);
});
