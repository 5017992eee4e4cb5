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
  const host = written("BareMetalHost", "node-1", { spec: { bootMACAddress: "52:54:00:00:00:01" } });
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

test("unleased are hosts with an agent that nobody uses; who boots says what it does", () => {
  const agent = { agent: { trust: "approved", waitsFor: "an order" } };
  const free = written("BareMetalHost", "free", { status: agent });
  const used = written("BareMetalHost", "used", {
    ...{ spec: { consumerRef: { name: "x" }, customDeploy: { method: "preseed/debian-13" } } },
    status: { operation: { startedAt: "x" }, waitingFor: "the installer" },
  });
  assert.deepEqual(unleasedHosts([free, used, written("BareMetalHost", "seen")]), [free]);
  assert.deepEqual(bootsOf([free, used]).map(({ doing, trust }) => [doing, trust])[1], [
    "waiting for the installer (preseed/debian-13)",
    "",
  ]);
});
