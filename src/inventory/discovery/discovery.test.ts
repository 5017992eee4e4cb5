import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "../../apiserver/server.ts";
import { quietLog } from "../../base/log.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { crdOf } from "../../kinds/crd.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Client } from "../../kube/client.ts";
import { CustomResourceDefinition, Namespace } from "../../kube/core.ts";
import { createManager, type Manager } from "../../kube/manager.ts";
import { createClient } from "../../kube/rest-client.ts";
import type { Transport } from "../../kube/transport.ts";
import type { Inventory } from "../../netboot/agent/protocol.ts";
import type { Host, HostChange } from "../../netboot/hosts/host.ts";
import { installCrds, installOwnCrds } from "../../operator/install-crds.ts";
import { discoveryController, type HeardHosts } from "./controller.ts";

const NAMESPACE = "rack";
const MINUTE = 60_000;

class Heard implements HeardHosts {
  readonly hosts = new Map<string, Host>();
  readonly #listeners = new Set<(change: HostChange) => void>();
  get = (nameOrMac: string): Host | undefined =>
    this.hosts.get(nameOrMac) ?? this.list().find(({ macs }) => macs.includes(nameOrMac));
  list = (): Host[] => [...this.hosts.values()];
  onChange(listener: (change: HostChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  hear(mac: string, at: number, more: Partial<Host> = {}): Host {
    const name = `host-${mac.replaceAll(":", "-")}`;
    const before = this.hosts.get(name) ?? { name, mac, macs: [mac], firstSeen: at, boot: "agent" as const };
    const host: Host = { ...before, lastSeen: at, ...more };
    this.hosts.set(name, host);
    for (const listener of this.#listeners) listener({ is: "changed", host });
    return host;
  }
}

interface Rack {
  clock: VirtualClock;
  client: Client;
  heard: Heard;
  manager: Manager;
  /** What the manager asked to be written. */
  writes: string[];
  settle(ms?: number): Promise<void>;
  hosts(): Promise<BareMetalHost[]>;
}

async function rack(t: TestContext, most = 10): Promise<Rack> {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log: quietLog });
  const client = createClient(api.transport(), { clock, random, log: quietLog });
  const kinds = [[BareMetalHost], [HardwareData]];
  const installed = installCrds(client, clock, new AbortController().signal, kinds);
  await clock.run(MINUTE);
  await installed;
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  const inner = api.transport();
  const writes: string[] = [];
  const transport: Transport = {
    request(request) {
      if (request.method !== "GET") writes.push(`${request.method} ${request.path}`);
      return inner.request(request);
    },
    watch: (request) => inner.watch(request),
    close: () => inner.close(),
  };
  const manager = createManager({ transport, clock, random, log: quietLog, leaderElection: false });
  const heard = new Heard();
  manager.add(discoveryController({ hosts: heard, namespace: NAMESPACE, most, perSecond: 5 }));
  void manager.start();
  await clock.run(1_000);
  t.after(async () => {
    const stopped = manager.stop();
    await clock.run(MINUTE);
    await stopped;
    await api.close();
  });
  return {
    clock,
    client,
    heard,
    manager,
    writes,
    settle: async (ms = MINUTE) => void (await clock.run(ms)),
    hosts: async () => (await client.list(BareMetalHost)).items,
  };
}

const MAC = "52:54:00:12:34:56";

const INVENTORY: Inventory = {
  bootMac: MAC,
  architecture: "x86_64",
  firmware: { kind: "uefi", secureBoot: true, vendor: "EDK II", version: "2022.11" },
  system: { manufacturer: "QEMU", product: "Standard PC", serial: "42" },
  cpu: { model: "EPYC", count: 4, clockMhz: 2400, flags: ["sse4_2"] },
  memoryBytes: 2 ** 31,
  disks: [
    { name: "/dev/nvme0n1", byId: ["nvme-X_1"], bytes: 10e9, rotational: false, readOnly: false, logicalBlock: 512 },
  ],
  cards: [{ name: "eth0", mac: MAC, link: true, speedMbps: 10_000, addresses: ["10.0.0.9/24"] }],
  bmc: { address: "10.1.0.9" },
  agent: { version: "0", kernel: "6.1", uptimeSeconds: 4 },
};

test("a machine that was heard becomes a BareMetalHost that says discovered, and what it reported its HardwareData", async (t) => {
  const { heard, clock, client, settle, hosts } = await rack(t);
  heard.hear(MAC, clock.now(), { firmware: "uefi" });
  await settle();
  const [first] = await hosts();
  assert.equal(first?.status?.operationalStatus, "discovered");
  assert.equal(first.status.provisioning?.state, "unmanaged");
  assert.equal(first.spec.bootMACAddress, MAC);
  assert.equal(first.metadata.namespace, NAMESPACE);

  heard.hear(MAC, clock.now(), { inventory: INVENTORY, inventoryAt: clock.now() });
  await settle();
  const [host] = await hosts();
  const data = await client.get(HardwareData, { namespace: NAMESPACE, name: host!.metadata.name });
  assert.equal(data.spec.hardware?.ramMebibytes, 2048);
  assert.deepEqual(data.spec.hardware?.storage, [
    {
      name: "/dev/disk/by-id/nvme-X_1",
      alternateNames: ["/dev/nvme0n1"],
      rotational: false,
      type: "NVME",
      sizeBytes: 10e9,
    },
  ]);
  assert.deepEqual(host?.status?.hardware, data.spec.hardware);
  assert.equal(data.metadata.ownerReferences?.[0]?.uid, host?.metadata.uid);
});

test("nothing is written while nothing changes", async (t) => {
  const { heard, clock, writes, settle } = await rack(t);
  heard.hear(MAC, clock.now(), { inventory: INVENTORY });
  await settle();
  writes.length = 0;
  for (let n = 0; n < 5; n++) heard.hear(MAC, clock.now());
  await settle();
  assert.deepEqual(writes, []);
});

test("a machine that was forgotten and is heard by another card has the object that it had", async (t) => {
  const { heard, clock, writes, settle, hosts } = await rack(t);
  const { name } = heard.hear(MAC, clock.now(), { inventory: INVENTORY });
  await settle();
  heard.hosts.delete(name);
  writes.length = 0;
  for (let n = 0; n < 3; n++) {
    heard.hear("52:54:00:12:34:57", clock.now(), { macs: ["52:54:00:12:34:57", MAC], inventory: INVENTORY });
    await settle();
  }
  assert.deepEqual([(await hosts()).map(({ metadata }) => metadata.name), writes], [[name], []]);
});

test("a host that somebody declared, in any namespace and any letters, is not made a second time", async (t) => {
  const { heard, clock, client, settle, hosts } = await rack(t);
  await client.create(BareMetalHost, {
    metadata: { name: "node-7", namespace: "default" },
    spec: { online: true, automatedCleaningMode: "metadata", bootMACAddress: "52:54:00:AB:CD:EF" },
  });
  await settle(1_000);
  heard.hear("52:54:00:ab:cd:ef", clock.now(), { inventory: { ...INVENTORY, bootMac: "52:54:00:ab:cd:ef" } });
  await settle();
  const all = await hosts();
  assert.deepEqual(
    all.map(({ metadata }) => metadata.name),
    ["node-7"],
  );
  assert.equal(all[0]?.status, undefined);
});

test("never more hosts than were allowed, and at most so many a second", async (t) => {
  const { heard, clock, settle, hosts } = await rack(t, 30);
  for (let n = 10; n < 60; n++) heard.hear(`52:54:00:00:00:${n}`, clock.now());
  await settle(1_000);
  const soon = (await hosts()).length;
  assert.ok(soon >= 10 && soon <= 16, `${soon} after a second`);
  await settle();
  assert.equal((await hosts()).length, 30);
});

test("a machine that there was no room for gets its object when another's goes", async (t) => {
  const { heard, clock, client, settle, hosts } = await rack(t, 1);
  const { name } = heard.hear("52:54:00:00:00:01", clock.now());
  await settle(1_000);
  heard.hear("52:54:00:00:00:02", clock.now());
  await settle(1_000);
  heard.hosts.delete(name);
  await client.delete(BareMetalHost, { namespace: NAMESPACE, name });
  await settle();
  assert.deepEqual(
    (await hosts()).map(({ spec }) => spec.bootMACAddress),
    ["52:54:00:00:00:02"],
  );
});

test("a host that somebody declared by the name it would get is theirs", async (t) => {
  const { heard, clock, client, manager, settle, hosts } = await rack(t);
  const name = `host-${MAC.replaceAll(":", "-")}`;
  await client.create(BareMetalHost, {
    metadata: { name, namespace: NAMESPACE },
    spec: { online: false, automatedCleaningMode: "metadata" },
  });
  await settle(1_000);
  heard.hear(MAC, clock.now());
  await settle(1_000);
  assert.deepEqual(
    (await hosts()).map(({ spec }) => spec.online),
    [false],
  );
  // It is not tried again and again.
  assert.deepEqual(
    manager.queues().map(({ delayed }) => delayed),
    [0],
  );
});

test("a discovered host that was deleted comes back when its machine is heard again, not by itself", async (t) => {
  const { heard, clock, client, settle, hosts } = await rack(t);
  const { name } = heard.hear(MAC, clock.now());
  await settle(11 * MINUTE);
  await client.delete(BareMetalHost, { namespace: NAMESPACE, name });
  await settle();
  assert.deepEqual(await hosts(), []);
  // Nobody is told that it was merely heard again.
  heard.hosts.get(name)!.lastSeen = clock.now();
  await settle();
  assert.equal((await hosts()).length, 1);
});

test("a host that another engine works on keeps its status", async (t) => {
  const { heard, clock, client, settle, hosts } = await rack(t);
  heard.hear(MAC, clock.now());
  await settle();
  const [host] = await hosts();
  const { status } = host!;
  await client.updateStatus(BareMetalHost, {
    ...host!,
    status: { ...status, operationalStatus: "OK", provisioning: { ID: "7", state: "available" } },
  });
  heard.hear(MAC, clock.now(), { inventory: INVENTORY });
  await settle();
  const [after] = await hosts();
  assert.equal(after?.status?.operationalStatus, "OK");
  assert.equal(after.status.provisioning?.state, "available");
});

test("definitions that Metal3 installed itself stay as they are", async (t) => {
  const { client, clock } = await rack(t);
  const ref = { name: "hardwaredata.metal3.io" };
  await client.delete(CustomResourceDefinition, ref);
  await clock.run(MINUTE);
  const theirs = structuredClone(crdOf([HardwareData]));
  theirs.spec.names.categories = ["metal3"];
  await client.create(CustomResourceDefinition, theirs as never);
  const before = await client.get(CustomResourceDefinition, ref);
  const installed = installOwnCrds(client, clock, new AbortController().signal, [[HardwareData]]);
  await clock.run(MINUTE);
  await installed;
  const after = await client.get(CustomResourceDefinition, ref);
  assert.equal(after.metadata.generation, before.metadata.generation);
  assert.deepEqual((after as unknown as typeof theirs).spec.names.categories, ["metal3"]);
});
