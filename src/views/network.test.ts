import assert from "node:assert/strict";
import { test } from "node:test";
import { writeLine } from "../netboot/dhcp/leases/lease-lines.ts";
import { bootsOf, leasesOf, subnetsOf, unleasedHosts } from "./network.ts";
import { written } from "./testing.ts";

const NOW = 1_000_000;
const lease = (address: number, client: string, state: "bound" | "released", expiresAt: number): string =>
  writeLine({ address, client, state, expiresAt });

test("leases are read as netboot writes them, with the host that has the card; lines that are none are left out", () => {
  const leases =
    lease(0x0a08000a, "1/525400000001", "bound", NOW + 1) +
    lease(0x0a080009, "id/0102", "released", 5) +
    "999.1.1.1 1/00 bound 1\n<b>\n";
  const nics = [{ mac: "52:54:00:00:00:01" }, {}];
  const host = written("BareMetalHost", "node-1", { status: { hardware: { nics } } });
  const rows = leasesOf([written("ConfigMap", "a", { data: { leases } })], [host]);
  assert.deepEqual(
    rows.map(({ address, client, host: of }) => [address, client, of]),
    [
      ["10.8.0.9", "0102", undefined],
      ["10.8.0.10", "52:54:00:00:00:01", "hosts/node-1"],
    ],
  );
  assert.deepEqual(subnetsOf(rows, NOW), [
    { via: "on the link", first: "10.8.0.9", last: "10.8.0.10", bound: 1, other: 1 },
  ]);
});

test("a lease that ran out is not in use; each relay is a network of its own", () => {
  const line = (address: string, until: number, via = ""): string => `${address} 1/525400000001 bound ${until}${via}\n`;
  const leases =
    line("10.8.0.1", NOW) +
    line("10.8.0.2", NOW + 1) +
    line("10.9.0.1", NOW + 1, " via 10.9.0.254/eth0") +
    "10.8.0.9 6/52 bound 1";
  const rows = leasesOf([written("ConfigMap", "a", { data: { leases } }), written("ConfigMap", "empty")], []);
  assert.deepEqual(subnetsOf(rows, NOW), [
    { via: "on the link", first: "10.8.0.1", last: "10.8.0.9", bound: 1, other: 2 },
    { via: "10.9.0.254", first: "10.9.0.1", last: "10.9.0.1", bound: 1, other: 0 },
  ]);
  assert.equal(rows.find(({ address }) => address === "10.8.0.9")!.client, "52");
});

test("unleased are hosts with an agent that nobody uses; who boots says what it does", () => {
  const agent = { agent: { trust: "approved", waitsFor: "an order" } };
  const free = written("BareMetalHost", "free", { status: agent });
  const used = written("BareMetalHost", "used", {
    ...{ spec: { consumerRef: { name: "x" }, customDeploy: { method: "preseed/debian-13" } } },
    status: { operation: { startedAt: "x" }, waitingFor: "the installer" },
  });
  assert.deepEqual(unleasedHosts([free, used, written("BareMetalHost", "seen")]), [free]);
  const asked = written("BareMetalHost", "asked", {
    ...{ spec: { bootMACAddress: "52:54:00:00:00:01", customDeploy: { method: "" } } },
    status: { operation: {}, provisioning: { state: "provisioning" } },
  });
  assert.deepEqual(
    bootsOf([free, used, asked, written("BareMetalHost", "idle")]).map(({ mac, state, doing, trust }) => [
      mac,
      state,
      doing,
      trust,
    ]),
    [
      ["", "new", "waiting for the operator to look at it", "approved"],
      ["", "new", "waiting for the installer (preseed/debian-13)", ""],
      ["52:54:00:00:00:01", "provisioning", "waiting for the operator to look at it", ""],
    ],
  );
});
