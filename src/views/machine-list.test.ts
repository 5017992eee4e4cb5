import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostOf } from "./machine-host.ts";
import { COLUMNS, type Column, machineRow, searched, sortedBy } from "./machine-list.ts";
import { written } from "./testing.ts";

const rows = [
  written("BareMetalHost", "node-10", {
    metadata: { labels: { "topology.kubernetes.io/rack": "r2" } },
    spec: { bmc: { address: "redfish://10.0.0.1/x" }, bootMACAddress: "52:54:00:00:00:01" },
    status: { provisioning: { state: "available" }, poweredOn: true },
  }),
  written("BareMetalHost", "node-9", { status: { waitingFor: "its BMC", errorMessage: "no route" } }),
  written("Instance", "pool-1", {
    apiVersion: "equinix.harvesterhci.io/v1",
    status: { status: "managed", provider: "latitude", waitingFor: "nothing" },
  }),
].map(machineRow);

const names = (query: string): string[] => searched(rows, query).map(({ name }) => name);

test("a search finds words anywhere, columns by their name, and standings; a minus turns it round", () => {
  assert.deepEqual(names(""), ["node-10", "node-9", "pool-1"]);
  assert.deepEqual(names("52:54:00"), ["node-10"]);
  assert.deepEqual(names("rack:R2 is:on"), ["node-10"]);
  assert.deepEqual(names("is:failed"), ["node-9"]);
  assert.deepEqual(names("is:waiting -kind:instance"), ["node-9"]);
  assert.deepEqual(names("provider:redfish"), ["node-10"]);
  assert.deepEqual(names("provider:latitude"), ["pool-1"]);
  assert.deepEqual(names("is:free"), ["node-10", "node-9"]);
});

test("rows are sorted by any column, numbers in names as numbers", () => {
  assert.deepEqual(
    sortedBy(rows, "name").map(({ name }) => name),
    ["node-9", "node-10", "pool-1"],
  );
  assert.deepEqual(
    sortedBy(rows, "kind", true).map(({ name }) => name),
    ["pool-1", "node-9", "node-10"],
  );
});

test("whatever is searched for, a row is in the answer or in that of the opposite; sorting loses none", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[^\s-]\S*$/), (word) => {
      assert.equal(searched(rows, word).length + searched(rows, `-${word}`).length, rows.length);
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(COLUMNS) as Column[])), fc.boolean(), (column, descending) => {
      assert.deepEqual(new Set(sortedBy(rows, column, descending)), new Set(rows));
    }),
  );
});

test("a machine's host is itself, or the one that it consumes", () => {
  const instance = written("Instance", "pool-1");
  const byLabel = written("BareMetalHost", "a", {
    metadata: { labels: { "slipway.dev/consumer": "Instance-pool-1" } },
  });
  const byName = written("BareMetalHost", "b", {
    spec: { consumerRef: { kind: "Instance", name: "pool-1", namespace: "hosts" } },
  });
  assert.equal(hostOf(byName, []), byName);
  assert.equal(hostOf(instance, [written("BareMetalHost", "c"), byLabel]), byLabel);
  assert.equal(hostOf(instance, [byName]), byName);
  assert.equal(hostOf(instance, [written("BareMetalHost", "c")]), undefined);
});
