/** Metrics of hosts by the names and labels of Metal3's operator, as a scrape of them reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { Registry } from "prom-client";
import { HOST_TALLIES } from "../../src/inventory/hosts/host-tallies.ts";
import { talliesIn } from "../../src/operator/tallies.ts";
import { IMAGE, type InventoryOptions, type InventoryWorld, rack } from "./inventory-world.ts";

/** A rack whose hosts are counted, and what a scrape reads: values by metric and labels. */
async function counted(
  t: Parameters<typeof rack>[0],
  options: InventoryOptions = {},
): Promise<{ world: InventoryWorld; scrape: () => Promise<Map<string, number>> }> {
  const registry = new Registry();
  const world = await rack(t, { ...options, tallies: talliesIn(registry, HOST_TALLIES) });
  const scrape = async (): Promise<Map<string, number>> => {
    const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
    );
  };
  return { world, scrape };
}

test("a host's life is in the metrics that Metal3's users know, and its own series go with it", async (t) => {
  const { world, scrape } = await counted(t);
  world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await world.change("node-1", { spec: { image: IMAGE } });
  await world.reaches("node-1", "provisioned");
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  const at = await scrape();
  const moved = (from: string, to: string) =>
    at.get(`metal3_provisioning_state_change_total{prev_state="${from}",new_state="${to}"}`);
  const way = [
    "",
    "registering",
    "inspecting",
    "preparing",
    "available",
    "provisioning",
    "provisioned",
    "deprovisioning",
  ];
  assert.deepEqual(
    way.slice(1).map((state, i) => moved(way[i]!, state)),
    way.slice(1).map(() => 1),
  );
  assert.equal(at.get("metal3_host_registration_required_total"), 1);
  const own = 'namespace="slipway-hosts",host="node-1"';
  for (const operation of ["register", "inspect", "provision", "deprovision"]) {
    assert.equal(at.get(`metal3_operation_${operation}_duration_seconds_count{${own}}`), 1, operation);
    const seconds = at.get(`metal3_operation_${operation}_duration_seconds_sum{${own}}`)!;
    assert.ok(seconds >= 0 && seconds < 3_600, `${operation} took ${seconds} s`);
  }
  assert.ok(at.get(`metal3_operation_provision_duration_seconds_sum{${own}}`)! > 10, "a write takes its time");
  assert.ok(at.get(`metal3_reconcile_total{${own}}`)! > 5);
  for (const way of ["on", "off"])
    assert.ok(at.get(`metal3_operation_power_change_total{${own},on_off="${way}"}`)! >= 1, `switched ${way}`);
  assert.deepEqual(
    ["metal3_reconcile_error_total", "metal3_delete_without_deprovisioning_total"].map((name) => at.get(name)),
    [0, 0],
  );

  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  await world.clock.run(60_000);
  assert.deepEqual(
    [...(await scrape()).keys()].filter((name) => name.includes("node-1")),
    [],
  );
});

test("what goes wrong with a host is counted once each time, by what it is", async (t) => {
  const { world, scrape } = await counted(t);
  world.rack("node-1");
  world.rotate("node-1", "another than the Secret says");
  await world.declare("node-1", { image: IMAGE, userData: { name: "not-there" } });
  const errors = async (type: string) => (await scrape()).get(`metal3_host_error_total{error_type="${type}"}`) ?? 0;
  await world.until("it is refused", async () => (await errors("RegistrationError")) > 0);
  const refused = await scrape();
  assert.equal(
    refused.get("metal3_credentials_invalid_total"),
    (await world.host("node-1"))?.status?.errorCount,
    "as often as the status says",
  );
  assert.equal(refused.get("metal3_credentials_missing_total"), 0);
  await world.setPassword("node-1", "corrected");
  await world.until("its data are missed", async () => (await errors("ProvisioningError")) > 0);
  assert.ok((await scrape()).get('metal3_host_config_data_error_total{host_data_type="userData"}')! >= 1);
});

test("credentials that are rotated are good in their new version, and counted", async (t) => {
  const { world, scrape } = await counted(t);
  world.rack("node-1");
  await world.declare("node-1");
  const { status } = await world.reaches("node-1", "available");
  const before = status?.goodCredentials?.credentialsVersion;
  await world.setPassword("node-1", "new");
  const version = async () => (await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion;
  await world.until("the new one is good", async () => (await version()) !== before);
  assert.equal((await scrape()).get("metal3_credentials_updated_total"), 1);
});

test("a host that is deleted though its BMC is gone for ever is counted, and an event says what nobody has seen", async (t) => {
  let isGone = false;
  const { world, scrape } = await counted(t, {
    bmcFaults: () => () => {
      if (isGone) throw new Fault("Unavailable", "bmc of node-1", "it is not reached");
    },
  });
  world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  isGone = true;
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 24 * 3_600_000);
  const at = await scrape();
  assert.equal(at.get("metal3_delete_without_deprovisioning_total"), 1);
  assert.equal(at.get("metal3_delete_without_powering_off_total"), 1);
  assert.ok(at.get("metal3_credentials_no_management_access_total")! >= 1);
  const said = (await world.events("node-1")).filter((event) => /NotWiped|NotPoweredOff/.test(event));
  assert.equal(said.length, 2, said.join("\n"));
  assert.match(said[1]!, /could NOT be seen to be off, .* in 3 tries: .*it is not reached/);
});

test("a wait for others, for netboot and for a detached host are counted as what they are", async (t) => {
  const { world, scrape } = await counted(t, { most: 1 });
  for (const name of ["node-1", "node-2"]) world.rack(name);
  world.servers.get("node-1")!.off();
  for (const name of ["node-1", "node-2"]) await world.declare(name);
  for (const name of ["node-1", "node-2"]) await world.reaches(name, "available");
  const delayed = [...(await scrape())].filter(([name]) => name.startsWith("metal3_delayed__provisioning_total{"));
  assert.ok(delayed.length > 0 && delayed.every(([, times]) => times >= 1), JSON.stringify(delayed));
  await world.change("node-1", {
    metadata: { annotations: { "baremetalhost.metal3.io/detached": '{"deleteAction":"delay"}' } },
  });
  await world.until(
    "it is detached",
    async () => (await world.host("node-1"))?.status?.operationalStatus === "detached",
  );
  await world.remove("node-1");
  const count = async (name: string) => (await scrape()).get(name);
  await world.until("its deletion waits", async () => (await count("metal3_delete_delayed_for_detached_total")) === 1);
  assert.equal(await count("metal3_provisioner_not_ready_total"), 0);
  world.serving = false;
  await world.change("node-2", { spec: { online: false } });
  await world.until("it waits for netboot", async () => ((await count("metal3_provisioner_not_ready_total")) ?? 0) > 0);
});
