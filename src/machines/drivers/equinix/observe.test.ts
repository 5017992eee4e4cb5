import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { claimOf, claimTag } from "./claim-tag.ts";
import { machineOf } from "./observe.ts";

test("H9 every device state of the document has a phase, and any other is unknown", () => {
  const phases = {
    queued: "building",
    provisioning: "building",
    deprovisioning: "releasing",
    reinstalling: "reinstalling",
    active: "running",
    inactive: "stopped",
    failed: "failed",
    powering_on: "running",
    powering_off: "running",
    deleted: "releasing",
    melting: "unknown",
  };
  for (const [state, phase] of Object.entries(phases)) {
    const machine = machineOf({ id: "1", state }, new Map());
    assert.deepEqual([machine.phase, machine.providerState], [phase, state]);
  }
});

test("a claim is read back from among any other tags", () => {
  const others = fc.array(fc.string().filter((tag) => !tag.startsWith("slipway:claim:")));
  fc.assert(
    fc.property(fc.string(), others, others, (claim, before, after) => {
      assert.equal(claimOf([...before, claimTag(claim), ...after]), claim);
      assert.equal(claimOf(before), undefined);
    }),
  );
  assert.equal(claimOf(null), undefined);
});

test("a device of which nothing but the id is known yet is a machine all the same", () => {
  const bare = machineOf({ id: "1" }, new Map());
  assert.deepEqual([bare.claim, bare.addresses, bare.ports, bare.phase], [undefined, [], [], "unknown"]);
  const nulls = machineOf({ id: "1", tags: null, ip_addresses: null, network_ports: null, locked: null }, new Map());
  assert.deepEqual([nulls.locked, nulls.ports], [false, []]);
});

test("H23 a termination time is reported in milliseconds", () => {
  const machine = machineOf({ id: "1", termination_time: "2026-01-01T00:02:00Z" }, new Map());
  assert.equal(machine.terminatesAt, Date.UTC(2026, 0, 1, 0, 2));
});

test("a VLAN that is only referred to is named by its number once any answer has shown it", () => {
  const numbers = new Map<string, string>();
  const port = (vlan: object) => ({ id: "1", network_ports: [{ id: "p", virtual_networks: [vlan] }] });
  const reference = { href: "/metal/v1/virtual-networks/aaa" };
  assert.deepEqual(machineOf(port(reference), numbers).ports[0]?.vlans, ["aaa"]);
  assert.deepEqual(machineOf(port({ id: "aaa", vxlan: 1001 }), numbers).ports[0]?.vlans, ["1001"]);
  assert.deepEqual(machineOf(port(reference), numbers).ports[0]?.vlans, ["1001"]);
});

test("the newest event that has happened is the one to read", () => {
  const provisioning_events = [
    { body: "first", created_at: "2026-01-01T00:00:01Z" },
    { body: "second", created_at: "2026-01-01T00:00:02Z" },
    { body: "to come", created_at: null },
  ];
  assert.equal(machineOf({ id: "1", provisioning_events }, new Map()).lastEvent, "second");
});
