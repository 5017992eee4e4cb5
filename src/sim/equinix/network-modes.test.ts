import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Machine, NETWORK_MODES, type NetworkMode, type NetworkWish } from "../../machines/machine.ts";
import { order, type Rig, rig } from "./rig.ts";

/** VLANs where each mode has a port that takes them. */
const VLANS: Readonly<Record<NetworkMode, NetworkWish["vlans"]>> = {
  layer3: [],
  hybrid: [{ port: "eth1", vlans: ["1001", "1002"] }],
  "hybrid-bonded": [{ port: "bond0", vlans: ["1001"] }],
  "layer2-bonded": [{ port: "bond0", vlans: ["1001", "1003"] }],
  "layer2-individual": [
    { port: "eth0", vlans: ["1001"] },
    { port: "eth1", vlans: ["1002"] },
  ],
};

async function running(plan = "c3.small.x86"): Promise<{ cloud: Rig; machine: Machine }> {
  const cloud = rig();
  const { id } = await cloud.driver.create(order({ placement: { plan, metro: "sg" } }));
  return { cloud, machine: await cloud.until(id, "running") };
}

async function bring(cloud: Rig, machine: Machine, wish: NetworkWish): Promise<Machine> {
  const after = await cloud.driver.setNetwork(machine, wish);
  assert.ok(cloud.driver.networkSettled(after, wish), `${wish.mode}: ${JSON.stringify(after.ports)}`);
  const calls = cloud.sent.length;
  await cloud.driver.setNetwork(after, wish);
  assert.equal(cloud.sent.length, calls, "the second run makes no call");
  return after;
}

for (const plan of ["c3.small.x86", "n3.xlarge.x86"]) {
  for (const from of NETWORK_MODES) {
    for (const to of NETWORK_MODES) {
      test(`H15 ${plan}: from ${from} to ${to} converges, and a second run makes no call`, async () => {
        const { cloud, machine } = await running(plan);
        const before = await bring(cloud, machine, { mode: from, vlans: VLANS[from], createVlans: true });
        const after = await bring(cloud, before, { mode: to, vlans: VLANS[to], createVlans: true });

        assert.equal(after.ports.find((port) => port.name === "bond0")?.networkType, to);
        const assigned = after.ports.filter((port) => port.vlans.length > 0);
        assert.deepEqual(
          assigned.map((port) => ({ port: port.name, vlans: port.vlans.toSorted() })),
          VLANS[to],
        );
      });
    }
  }
}

test("H15 any sequence of wishes converges, whatever stood before", async () => {
  const wish = fc.record({ mode: fc.constantFrom(...NETWORK_MODES), withVlans: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(wish, { maxLength: 6 }), async (wishes) => {
      const { cloud, machine } = await running();
      let now = machine;
      for (const { mode, withVlans } of wishes) {
        now = await bring(cloud, now, { mode, vlans: withVlans ? VLANS[mode] : [], createVlans: true });
      }
    }),
    { numRuns: 40 },
  );
});

test("H15 a fresh machine that should be layer 3 needs no call at all", async () => {
  const { cloud, machine } = await running();
  const calls = cloud.sent.length;
  await cloud.driver.setNetwork(machine, { mode: "layer3", vlans: [] });
  assert.equal(cloud.sent.length, calls);
});

test("H15 a port that already stands as wished, seen too late, counts as success", async () => {
  const { cloud, machine } = await running();
  const wish: NetworkWish = { mode: "layer2-bonded", vlans: [] };
  await cloud.driver.setNetwork(machine, wish);
  const after = await cloud.driver.setNetwork(machine, wish);
  assert.ok(cloud.driver.networkSettled(after, wish));
});

test("without a mode only the named ports are touched", async () => {
  const { cloud, machine } = await running();
  const hybrid = await bring(cloud, machine, { mode: "hybrid", vlans: VLANS.hybrid, createVlans: true });
  const after = await bring(cloud, hybrid, { mode: undefined, vlans: [{ port: "eth1", vlans: ["1002"] }] });
  assert.deepEqual(after.ports.find((port) => port.name === "eth1")?.vlans, ["1002"]);
});

test("a VLAN may be named by its id, and one that does not exist is a fault the user can act on", async () => {
  const { cloud, machine } = await running();
  const byNumber: NetworkWish = { mode: "hybrid", vlans: [{ port: "eth1", vlans: ["1001"] }] };
  await assert.rejects(cloud.driver.setNetwork(machine, byNumber), { code: "MissingInput" });

  const settled = await bring(cloud, machine, { ...byNumber, createVlans: true });
  const [vlan] = cloud.sim.device(machine.id)!.ports.flatMap((port) => port.vlans);
  const byId: NetworkWish = { mode: "hybrid", vlans: [{ port: "eth1", vlans: [vlan!.id] }] };
  assert.ok(cloud.driver.networkSettled(settled, byId));
  const unknown = {
    mode: "hybrid" as const,
    vlans: [{ port: "eth1", vlans: ["0b5e0000-0000-4000-8000-000000000000"] }],
  };
  await assert.rejects(cloud.driver.setNetwork(settled, unknown), /there is no VLAN 0b5e/);
});

test("a frozen network is refused with the API's reason", async () => {
  const { cloud, machine } = await running();
  cloud.sim.device(machine.id)!.networkFrozen = true;
  await assert.rejects(cloud.driver.setNetwork(machine, { mode: "layer2-bonded", vlans: [] }), /frozen/);
});

test("layer 2 takes the machine's addresses, layer 3 brings them back", async () => {
  const { cloud, machine } = await running();
  const hardware = cloud.sim.device(machine.id)!.hardware;
  const flat = await bring(cloud, machine, { mode: "layer2-individual", vlans: [] });
  assert.deepEqual([flat.addresses.length, hardware.reachable()], [0, false]);
  const routed = await bring(cloud, flat, { mode: "layer3", vlans: [] });
  assert.deepEqual([routed.addresses.length, hardware.reachable()], [3, true]);
});
