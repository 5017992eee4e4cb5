/** Netboot's account as `deploy/netboot.yaml` ships it is enough to make objects of the machines that were heard, and for no more. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { systemClock as clock } from "../../src/base/clock.ts";
import { quietLog } from "../../src/base/log.ts";
import { cryptoRandom as random } from "../../src/base/random.ts";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { Event, Namespace, Secret } from "../../src/kube/core.ts";
import { createManager } from "../../src/kube/manager.ts";
import { createClient } from "../../src/kube/rest-client.ts";
import type { Lease } from "../../src/netboot/dhcp/leases/lease.ts";
import { openMirrored, type SharedLeases } from "../../src/netboot/dhcp/leases/mirror.ts";
import { MemoryStore } from "../../src/netboot/dhcp/testing.ts";
import { inventoryOf, someHosts } from "../../src/netboot/hosts/testing.ts";
import type { Netboot } from "../../src/netboot/service/service.ts";
import { DISCOVERY_NAMESPACE as namespace, netbootSettings } from "../../src/netboot/settings.ts";
import { addNetboot, prepareDiscovery } from "../../src/operator/netboot.ts";
import { NETBOOT_ACCOUNT, type RbacObject } from "../../src/operator/rbac.ts";
import { startCluster, whyNotHere } from "./cluster.ts";
import { until } from "./live.ts";
import { apply, operatorTransport } from "./operator-account.ts";

const skip = (await whyNotHere()) ?? false;
const MAC = "52:54:00:12:34:56";

test("hosts appear on a cluster with the rights that are shipped", { skip }, async (t) => {
  const cluster = await startCluster();
  t.after(() => cluster.close());
  await cluster.client.create(Namespace, { metadata: { name: namespace } });
  const shipped = loadAll(await readFile("deploy/netboot.yaml", "utf8")) as RbacObject[];
  for (const object of shipped.slice(1)) await apply(cluster.transport, object);

  const transport = await operatorTransport(cluster, { name: NETBOOT_ACCOUNT, namespace });
  t.after(() => transport.close());
  const client = createClient(transport, { clock, random, log: quietLog });
  const settings = netbootSettings({ dhcp: { mode: "proxy" } }, "the test");
  await prepareDiscovery({ client, clock, signal: AbortSignal.timeout(60_000) }, settings);

  const hosts = someHosts(clock);
  const netboot = { hosts, close: async () => hosts.close() } as unknown as Netboot;
  const manager = createManager({ transport, clock, random, log: quietLog, leaderElection: { namespace } });
  let shared: SharedLeases | undefined;
  const start = async (leases?: SharedLeases): Promise<Netboot> => {
    shared = leases;
    return netboot;
  };
  const led = addNetboot(manager, settings, { start, log: quietLog, clock, client });
  await manager.start();
  t.after(async () => {
    await manager.stop();
    await led.closed();
  });
  await until("the lease is held", () => led.current() !== undefined, 60_000);
  hosts.heard({ mac: MAC, firmware: "uefi" });
  hosts.register(inventoryOf(MAC), MAC);

  const admin = cluster.client;
  await until(
    "the host is described",
    async () => (await admin.list(HardwareData, { namespace })).items.length === 1,
    60_000,
  );
  const [host] = (await admin.list(BareMetalHost, { namespace })).items;
  assert.equal(host?.status?.operationalStatus, "discovered");
  assert.equal(host.status.hardware?.nics?.[0]?.mac, MAC);
  const told = async () => (await admin.list(Event, { namespace })).items.map(({ reason }) => reason);
  await until("it is told", async () => (await told()).includes("Discovered"), 60_000);

  const lease: Lease = { address: 0x0a000064, client: "1/525400123456", state: "bound", expiresAt: 1_900_000_000_000 };
  const open = (replica: string) =>
    openMirrored(new MemoryStore(), { ...shared!, replica, clock, log: quietLog, onLost: () => {} });
  const before = await open("a");
  await before.put(lease);
  await before.settle();
  before.close();
  const after = await open("b");
  after.close();
  assert.deepEqual(after.load(), [lease]);
  await assert.rejects(client.list(Secret, { namespace }), /forbidden/i);
});
