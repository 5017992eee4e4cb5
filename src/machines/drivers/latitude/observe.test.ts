import assert from "node:assert/strict";
import { test } from "node:test";
import type { Phase } from "../../machine.ts";
import { machineOf, type Sighting } from "./observe.ts";

const NOW = Date.UTC(2026, 6, 1, 12);
const seen: Sighting = { claim: "c1", vlans: [], now: NOW, released: false };
const phase = (status: string, changes: Partial<Sighting> = {}): Phase =>
  machineOf({ id: "sv_1", attributes: { status, created_at: "2026-07-01T10:00:00+00:00" } }, { ...seen, ...changes })
    .phase;

test("every status of the document has a phase, and one that is new is unknown", () => {
  assert.deepEqual(
    ["on", "off", "unknown", "disk_erasing", "deploying", "failed_deployment", "rescue_mode", "constructor", "new"].map(
      (status) => phase(status),
    ),
    ["running", "stopped", "unknown", "reinstalling", "building", "failed", "unknown", "unknown", "unknown"],
  );
});

test("a server that was just ordered is building though it reads off, and a released one is releasing", () => {
  const created = Date.UTC(2026, 6, 1, 10);

  assert.equal(phase("off", { now: created + 60_000 }), "building");
  assert.equal(phase("off", { now: created + 121_000 }), "stopped");
  assert.equal(phase("disk_erasing", { released: true }), "releasing");
});

test("addresses, ports and times are reported as far as they are known; a server without anything is still a machine", () => {
  const full = machineOf(
    {
      id: "sv_1",
      attributes: {
        hostname: "a",
        primary_ipv4: "192.0.2.1",
        primary_ipv6: "nonsense",
        locked: true,
        scheduled_deletion_at: "2026-08-01T00:00:00+00:00",
        interfaces: [
          { role: "ipmi", name: "IPMI", mac_address: "00:00:00:00:00:01" },
          { role: "external", name: "eno1", mac_address: "AA:00:00:00:00:02" },
          { role: "internal", name: "eno2", mac_address: "AA:00:00:00:00:03" },
          { role: "unknown", name: "PO1", mac_address: null },
        ],
      },
    },
    { ...seen, vlans: ["2000"] },
  );

  assert.deepEqual(full.addresses, [{ address: "192.0.2.1", family: 4, public: true, management: true }]);
  assert.deepEqual(
    full.ports.map(({ name, kind, mac, vlans }) => [name, kind, mac, vlans]),
    [
      ["eno1", "physical", "aa:00:00:00:00:02", []],
      ["eno2", "physical", "aa:00:00:00:00:03", ["2000"]],
      ["PO1", "bond", undefined, []],
    ],
  );
  assert.equal(full.terminatesAt, Date.UTC(2026, 7, 1));
  assert.equal(full.locked, true);
  assert.deepEqual(machineOf({ id: "sv_2" }, seen).ports, []);
});

test("plan and site are those of the catalogue, else what the server itself says of them", () => {
  const where = (attributes: Parameters<typeof machineOf>[0]["attributes"]) => {
    const { plan, metro } = machineOf({ id: "sv_1", ...(attributes && { attributes }) }, seen);
    return [plan, metro];
  };
  const region = { site: { slug: "DAL" } };
  assert.deepEqual(where({ plan: { slug: "c3-small-x86", name: "c3.small" }, region, site: "FRA" }), [
    ...["c3-small-x86", "DAL"],
  ]);
  assert.deepEqual(where({ plan: { name: "c3.small" }, site: "FRA" }), ["c3.small", "FRA"]);
  assert.deepEqual(where({}), [undefined, undefined]);
});

test("virtual networks of a server without a known interface are not lost", () => {
  const machine = machineOf({ id: "sv_1", attributes: { interfaces: [] } }, { ...seen, vlans: ["2000"] });

  assert.deepEqual(
    machine.ports.flatMap((port) => port.vlans),
    ["2000"],
  );
});
