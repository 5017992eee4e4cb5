/** The accounts under which netboot runs, as `deploy/` ships them, are enough to make objects of the machines that were seen, and for no more. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { systemClock as clock, quietLog, cryptoRandom as random } from "@slipway/base";
import { createClient, createManager } from "@slipway/kube";
import { Event, Namespace, Secret } from "@slipway/kube/core";
import { loadAll } from "js-yaml";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import type { Lease } from "../../src/netboot/dhcp/leases/lease.ts";
import { openMirrored, type SharedLeases } from "../../src/netboot/dhcp/leases/mirror.ts";
import { MemoryStore } from "../../src/netboot/dhcp/testing.ts";
import { inventoryOf, someHosts } from "../../src/netboot/hosts/testing.ts";
import { fingerprint } from "../../src/netboot/protocol/key.ts";
import type { Netboot } from "../../src/netboot/service/service.ts";
import { DISCOVERY_NAMESPACE as namespace, netbootSettings } from "../../src/netboot/settings.ts";
import { NETBOOT_ACCOUNT, type RbacObject, SERVICE_ACCOUNT } from "../../src/operator/rbac.ts";
import { DEFAULT_NAMESPACE } from "../../src/systems/harvester/names.ts";
import { ledNetboot, prepareDiscovery } from "../../src/systems/netboot/led-netboot.ts";
import { startCluster, whyNotHere } from "./cluster.ts";
import { until } from "./live.ts";
import { apply, operatorTransport } from "./operator-account.ts";

const skip = (await whyNotHere()) ?? false;
const MAC = "52:54:00:12:34:56";

for (const [where, { files, account }] of Object.entries({
  "beside the machines": { files: ["netboot.yaml"], account: { name: NETBOOT_ACCOUNT, namespace } },
  "in the operator": {
    files: ["rbac.yaml", "netboot-in-operator.yaml"],
    account: { name: SERVICE_ACCOUNT, namespace: DEFAULT_NAMESPACE },
  },
}))
  test(`hosts appear on a cluster with the rights that are shipped for netboot ${where}`, { skip }, async (t) => {
    const cluster = await startCluster();
    t.after(() => cluster.close());
    for (const name of [namespace, DEFAULT_NAMESPACE, "fleet-local"])
      await cluster.client.create(Namespace, { metadata: { name } });
    for (const file of files) {
      const shipped = loadAll(await readFile(`deploy/${file}`, "utf8")) as (RbacObject | { kind: "Namespace" })[];
      for (const object of shipped) if (object.kind !== "Namespace") await apply(cluster.transport, object);
    }

    const transport = await operatorTransport(cluster, account);
    t.after(() => transport.close());
    const client = createClient(transport, { clock, random, log: quietLog });
    const settings = netbootSettings({ dhcp: { mode: "proxy" } }, "the test");
    await prepareDiscovery({ client, clock, signal: AbortSignal.timeout(60_000) }, settings);

    const hosts = someHosts(clock);
    const netboot = { hosts, close: async () => hosts.close() } as unknown as Netboot;
    const manager = createManager({
      transport,
      clock,
      random,
      log: quietLog,
      leaderElection: { namespace: account.namespace },
    });
    let shared: SharedLeases | undefined;
    const start = async (leases?: SharedLeases): Promise<Netboot> => {
      shared = leases;
      return netboot;
    };
    const led = ledNetboot(settings, { start, log: quietLog, clock, client });
    for (const controller of led.controllers) manager.add(controller);
    await manager.start();
    t.after(async () => {
      await manager.stop();
      await led.closed();
    });
    await until("the lease is held", () => led.current() !== undefined, 60_000);
    hosts.seen({ mac: MAC, firmware: "uefi" });
    const key = `age1${"q".repeat(58)}`;
    const inventory = inventoryOf(MAC);
    const keyed = { ...inventory, agent: { ...inventory.agent, key } };
    const { host: name } = hosts.register(keyed, MAC, { address: "10.0.0.9", proof: "lease" });

    const admin = cluster.client;
    await until(
      "the host is described",
      async () => (await admin.list(HardwareData, { namespace })).items.length === 1,
      60_000,
    );
    const [host] = (await admin.list(BareMetalHost, { namespace })).items;
    assert.equal(host?.status?.operationalStatus, "discovered");
    assert.equal(host.status.hardware?.nics?.[0]?.mac, MAC);
    assert.deepEqual([host.status.agent?.keyFingerprint, host.status.agent?.trust], [fingerprint(key), "discovered"]);

    // An administrator approves it, takes that back, and declares it; each time the object says so.
    const trusted = (trust: string) =>
      until(
        `it is ${trust}`,
        async () => {
          const [object] = (await admin.list(BareMetalHost, { namespace })).items;
          return hosts.standing(name).trust === trust && object?.status?.agent?.trust === trust;
        },
        60_000,
      );
    const annotate = async (annotations: Record<string, string>) => {
      const object = await admin.get(BareMetalHost, { namespace, name });
      await admin.update(BareMetalHost, { ...object, metadata: { ...object.metadata, annotations } });
    };
    await annotate({ "slipway.dev/approved": fingerprint(key) });
    await trusted("approved");
    await annotate({});
    await trusted("discovered");
    const declared = (mine: string) => ({
      metadata: { name: mine, namespace: "default" },
      spec: { online: true, automatedCleaningMode: "metadata" as const, bootMACAddress: MAC },
    });
    await admin.create(BareMetalHost, declared("node-7"));
    await trusted("declared");
    await admin.create(BareMetalHost, declared("node-8"));
    await trusted("discovered");
    const twice = async () => (await admin.list(Event, { namespace: "default" })).items.map(({ reason }) => reason);
    await until(
      "both are reported",
      async () => (await twice()).filter((each) => each === "DeclaredTwice").length === 2,
      60_000,
    );
    const shown = async () => (await admin.list(Event, { namespace })).items.map(({ reason }) => reason);
    await until("it is reported", async () => (await shown()).includes("Discovered"), 60_000);

    const lease: Lease = {
      address: 0x0a000064,
      client: "1/525400123456",
      state: "bound",
      expiresAt: 1_900_000_000_000,
    };
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
