import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { crdOf } from "../../kinds/crd.ts";
import { installOwnCrds } from "../../kinds/install.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../kinds/metal3/hardware-data.ts";
import type { Host } from "../../netboot/hosts/host.ts";
import type { Inventory } from "../../netboot/protocol/messages.ts";
import { INVENTORY, MAC, MINUTE, NAMESPACE, rack } from "./testing.ts";

test("a machine that was seen becomes a BareMetalHost that says discovered, and what it reported its HardwareData", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  seen.hear(MAC, clock.now(), { firmware: "bios", architecture: "x86_64" });
  await settle();
  const [first] = await hosts();
  assert.deepEqual([first?.spec.architecture, first?.spec.bootMode], ["x86_64", "legacy"]);
  assert.equal(first?.status?.operationalStatus, "discovered");
  assert.equal(first.status.provisioning?.state, "unmanaged");
  const { errorCount, errorMessage, provisioningFailCount, poweredOn } = first.status;
  assert.deepEqual([errorCount, errorMessage, provisioningFailCount, poweredOn], [0, "", 0, true]);
  assert.equal(first.spec.bootMACAddress, MAC);
  assert.equal(first.metadata.namespace, NAMESPACE);

  seen.hear(MAC, clock.now(), { inventory: INVENTORY, inventoryAt: clock.now() });
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

test("a disk that was taken out or put in shows in the host and its HardwareData", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  const [disk] = INVENTORY.disks;
  for (const disks of [[disk!], [disk!, { ...disk!, name: "/dev/nvme1n1", byId: [] }], [disk!]]) {
    seen.hear(MAC, clock.now(), { inventory: { ...INVENTORY, disks } });
    await settle();
    const [host] = await hosts();
    const data = await client.get(HardwareData, { namespace: NAMESPACE, name: host!.metadata.name });
    assert.equal(host?.status?.hardware?.storage?.length, disks.length);
    assert.equal(data.spec.hardware?.storage?.length, disks.length);
  }
});

test("where the management controller answers is on the host: by IPv4, else by IPv6, where it has an address", async (t) => {
  const { seen, clock, settle, hosts } = await rack(t);
  const controllers = [{ address: "10.1.0.9", addressV6: "fd00::9" }, { addressV6: "fd00::9" }, undefined];
  for (const [i, bmc] of controllers.entries()) {
    const { bmc: _, ...rest } = INVENTORY;
    seen.hear(`52:54:00:00:00:0${i}`, clock.now(), { inventory: { ...rest, ...(bmc && { bmc }) } });
    await settle();
  }
  assert.deepEqual(
    (await hosts()).map(({ metadata }) => metadata.annotations?.["slipway.dev/bmc-address"]),
    ["10.1.0.9", "fd00::9", undefined],
  );
});

test("of a machine that reports something else each time, no more is written than a few times at once and then every five seconds", async (t) => {
  const { seen, clock, client, writes, settle } = await rack(t);
  const session = { address: "10.0.0.9", card: MAC, proof: "lease", spokeAt: 0 };
  const report = (memoryBytes: number): unknown =>
    seen.hear(MAC, clock.now(), {
      inventory: { ...INVENTORY, memoryBytes },
      session: { ...session, registeredAt: clock.now() } as never,
    });
  report(2 ** 30);
  await settle();
  writes.length = 0;
  for (let n = 1; n <= 300; n++) {
    report(2 ** 30 + n * 2 ** 20);
    await clock.run(100);
  }
  const told = writes.filter((each) => !/events/.test(each));
  assert.ok(told.length <= 10 + 30_000 / 5_000 + 2, `${told.length} writes in half a minute`);
  await settle();
  const name = `host-${MAC.replaceAll(":", "-")}`;
  const data = await client.get(HardwareData, { namespace: NAMESPACE, name });
  assert.equal(data.spec.hardware?.ramMebibytes, 2 ** 10 + 300, "what it said last is written in the end");
});

test("nothing is written while nothing changes", async (t) => {
  const { seen, clock, writes, settle } = await rack(t);
  seen.hear(MAC, clock.now(), { inventory: INVENTORY });
  await settle();
  writes.length = 0;
  for (let n = 0; n < 5; n++) seen.hear(MAC, clock.now());
  await settle();
  assert.deepEqual(writes, []);
});

test("a machine that was forgotten and is seen by another card has the object that it had", async (t) => {
  const { seen, clock, writes, settle, hosts } = await rack(t);
  const { name } = seen.hear(MAC, clock.now(), { inventory: INVENTORY });
  await settle();
  seen.hosts.delete(name);
  writes.length = 0;
  for (let n = 0; n < 3; n++) {
    seen.hear("52:54:00:12:34:57", clock.now(), { macs: ["52:54:00:12:34:57", MAC], inventory: INVENTORY });
    await settle();
  }
  assert.deepEqual([(await hosts()).map(({ metadata }) => metadata.name), writes], [[name], []]);
});

test("N30 a host that somebody declared, in any namespace and any letters, is not made a second time", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  await client.create(BareMetalHost, {
    metadata: { name: "node-7", namespace: "default" },
    spec: { online: true, automatedCleaningMode: "metadata", bootMACAddress: "52:54:00:AB:CD:EF" },
  });
  await settle(1_000);
  seen.hear("52:54:00:ab:cd:ef", clock.now(), { inventory: { ...INVENTORY, bootMac: "52:54:00:ab:cd:ef" } });
  await settle();
  const all = await hosts();
  assert.deepEqual(
    all.map(({ metadata }) => metadata.name),
    ["node-7"],
  );
  assert.equal(all[0]?.status, undefined);
});

test("never more hosts than were allowed, and at most so many a second", async (t) => {
  const { seen, clock, settle, hosts } = await rack(t, 30);
  for (let n = 10; n < 60; n++) seen.hear(`52:54:00:00:00:${n}`, clock.now());
  await settle(1_000);
  const soon = (await hosts()).length;
  assert.ok(soon >= 10 && soon <= 16, `${soon} after a second`);
  await settle();
  assert.equal((await hosts()).length, 30);
});

test("a machine that there was no room for gets its object when another's goes", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t, 1);
  const { name } = seen.hear("52:54:00:00:00:01", clock.now());
  await settle(1_000);
  seen.hear("52:54:00:00:00:02", clock.now());
  await settle(1_000);
  seen.hosts.delete(name);
  await client.delete(BareMetalHost, { namespace: NAMESPACE, name });
  await settle();
  assert.deepEqual(
    (await hosts()).map(({ spec }) => spec.bootMACAddress),
    ["52:54:00:00:00:02"],
  );
});

test("never more hosts than were allowed while the watch lags behind what was created", async (t) => {
  const { seen, clock, lag, settle, hosts } = await rack(t, 3);
  lag(true);
  for (let n = 10; n < 15; n++) seen.hear(`52:54:00:00:00:${n}`, clock.now());
  await settle();
  assert.equal((await hosts()).length, 3);
  lag(false);
  await settle();
  assert.equal((await hosts()).length, 3);
});

test("a host whose creation was refused takes nobody's room", async (t) => {
  const { seen, clock, refuse, settle, hosts } = await rack(t, 1);
  refuse(({ method, body }) => method === "POST" && JSON.stringify(body).includes("52:54:00:00:00:01"));
  seen.hear("52:54:00:00:00:01", clock.now());
  await settle(1_000);
  seen.hear("52:54:00:00:00:02", clock.now());
  await settle();
  assert.deepEqual(
    (await hosts()).map(({ spec }) => spec.bootMACAddress),
    ["52:54:00:00:00:02"],
  );
});

test("a discovered host has the boot mode of its firmware, and names the card that it booted from", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  const second = "52:54:00:12:34:57";
  const cards = [
    { name: "eth1", mac: second, link: true, speedMbps: 10_000, addresses: [] },
    ...INVENTORY.cards,
  ] satisfies Inventory["cards"];
  const cases: [last: string, more: Partial<Host>, mode: string][] = [
    ["01", { firmware: "bios" }, "legacy"],
    ["02", { firmware: "uefi" }, "UEFI"],
    ["03", {}, "UEFI"],
    ["04", { inventory: { ...INVENTORY, firmware: { kind: "bios" } } }, "legacy"],
    ["05", { inventory: { ...INVENTORY, firmware: { kind: "uefi", secureBoot: false } } }, "UEFI"],
    ["06", { inventory: { ...INVENTORY, cards } }, "UEFISecureBoot"],
  ];
  for (const [last, more] of cases) seen.hear(`52:54:00:00:00:${last}`, clock.now(), more);
  await settle();
  const modes = (await hosts()).map(({ spec }) => [spec.bootMACAddress?.slice(-2), spec.bootMode]);
  assert.deepEqual(
    modes.toSorted(),
    cases.map(([last, , mode]) => [last, mode]),
  );
  const { spec } = await client.get(HardwareData, { namespace: NAMESPACE, name: "host-52-54-00-00-00-06" });
  assert.deepEqual(
    spec.hardware?.nics?.map(({ mac, pxe }) => [mac, pxe]),
    [
      [second, false],
      [MAC, true],
    ],
  );
});

test("a host that somebody declared by the name it would get is theirs", async (t) => {
  const { seen, clock, client, manager, settle, hosts } = await rack(t);
  const name = `host-${MAC.replaceAll(":", "-")}`;
  await client.create(BareMetalHost, {
    metadata: { name, namespace: NAMESPACE },
    spec: { online: false, automatedCleaningMode: "metadata" },
  });
  await settle(1_000);
  seen.hear(MAC, clock.now());
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

test("a discovered host that was deleted comes back when its machine is seen again, not by itself", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  const { name } = seen.hear(MAC, clock.now());
  await settle(11 * MINUTE);
  await client.delete(BareMetalHost, { namespace: NAMESPACE, name });
  await settle();
  assert.deepEqual(await hosts(), []);
  // That it was only seen again is no event.
  seen.hosts.get(name)!.lastSeen = clock.now();
  await settle();
  assert.equal((await hosts()).length, 1);
});

test("a host that another engine works on keeps its status", async (t) => {
  const { seen, clock, client, settle, hosts } = await rack(t);
  seen.hear(MAC, clock.now());
  await settle();
  const [host] = await hosts();
  const { status } = host!;
  await client.updateStatus(BareMetalHost, {
    ...host!,
    status: { ...status, operationalStatus: "OK", provisioning: { ID: "7", state: "available" } },
  });
  seen.hear(MAC, clock.now(), { inventory: INVENTORY });
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
