/** Hosts that are to be let alone: paused, detached, moved here, installed by others, driven by Metal3. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rfc3339Micro } from "@slipway/base";
import { Lease } from "@slipway/kube/core";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, MINUTE, RACK, rack, SECOND } from "./inventory-world.ts";

test("a paused host is let alone, and a detached one may be deleted without being touched", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.reaches("node-1", "provisioned");
  await world.change("node-1", { metadata: { annotations: { "baremetalhost.metal3.io/paused": "metal3.io/capm3" } } });
  await world.change("node-1", { spec: { image: null } });
  await world.clock.run(20 * MINUTE);
  assert.equal((await world.host("node-1"))?.status?.provisioning?.state, "provisioned");
  await world.change("node-1", { spec: { image: IMAGE } });
  const annotations = { "baremetalhost.metal3.io/paused": null, "baremetalhost.metal3.io/detached": "" };
  await world.change("node-1", { metadata: { annotations } });
  await world.until(
    "it is detached",
    async () => (await world.host("node-1"))?.status?.operationalStatus === "detached",
  );
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.equal(server.running?.is, "system");
});

test("a host that was moved here goes on as what it was: a system in use is not touched", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = { image: IMAGE.url, data: {} };
  server.bootFirst = "disk";
  server.on();
  await world.until("the system runs", () => server.running?.is === "system");
  const { starts } = server;
  const provisioning = { state: "provisioned", ID: "of the other cluster", image: IMAGE };
  const status = { operationalStatus: "OK", errorMessage: "", poweredOn: true, provisioning };
  const annotation = "baremetalhost.metal3.io/status";
  await world.declare("node-1", { image: IMAGE }, { [annotation]: JSON.stringify(status) });
  const { metadata } = await world.reaches("node-1", "provisioned");
  await world.clock.run(20 * MINUTE);
  assert.deepEqual([server.starts, server.running?.is], [starts, "system"]);
  assert.equal((await world.host("node-1"))?.metadata.annotations?.[annotation], undefined, metadata.name);
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("a status that can't be read keeps a host from being taken for a new one", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", {}, { "baremetalhost.metal3.io/status": '{"provisioning":' });
  await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  assert.match((await world.host("node-1"))?.status?.errorMessage ?? "", /metal3\.io\/status: it is no JSON object/);
  await world.clock.run(20 * MINUTE);
  assert.equal(server.starts, 0);
  await world.change("node-1", { metadata: { annotations: { "baremetalhost.metal3.io/status": null } } });
  await world.reaches("node-1", "available");
});

test("hardware that a host brings along is written down where nobody looks", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  const annotations = { "inspect.metal3.io": "disabled", "inspect.metal3.io/hardwaredetails": '{"ramMebibytes":4096}' };
  await world.declare("node-1", { automatedCleaningMode: "disabled" }, annotations);
  const { status } = await world.reaches("node-1", "available");
  assert.equal(status?.hardware?.ramMebibytes, 4096);
  const data = await world.whileTimePasses(world.client.get(HardwareData, { namespace: RACK, name: "node-1" }));
  assert.equal(data.spec.hardware?.ramMebibytes, 4096);
});

test("an externally provisioned host is never wiped or installed: only its power is managed", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  server.bootFirst = "disk";
  server.on();
  await world.declare("node-1", { externallyProvisioned: true, image: IMAGE });
  await world.reaches("node-1", "externally provisioned");
  await world.clock.run(20 * MINUTE);
  assert.deepEqual([server.starts, server.disks[0]?.content], [1, LEFT_OVER]);
  await world.change("node-1", { spec: { online: false } });
  await world.until("it is off", () => !server.isOn);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.deepEqual(server.disks[0]?.content, LEFT_OVER);
});

test("the machine of an externally provisioned host that asks the network goes on to its system, until it is given to us", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  server.bootFirst = "disk";
  server.on();
  await world.declare("node-1", { externallyProvisioned: true });
  await world.reaches("node-1", "externally provisioned");
  const { hosts } = world.provisioning;
  // DHCP sees a machine before it asks what to boot.
  hosts.seen({ mac: server.mac, address: server.address });
  await world.clock.run(SECOND);
  server.bootFirst = "network";
  server.restart();
  await world.clock.run(10 * MINUTE);
  assert.deepEqual([server.running?.is, server.disks[0]?.content], ["system", LEFT_OVER]);
  await world.change("node-1", { spec: { externallyProvisioned: false } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("without a BMC the machine of an externally provisioned host goes on to its system, too, until somebody says otherwise", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  await world.declare("node-1", { bmc: false, externallyProvisioned: true });
  await world.reaches("node-1", "unmanaged");
  const { hosts } = world.provisioning;
  hosts.seen({ mac: server.mac, address: server.address });
  await world.clock.run(SECOND);
  server.on();
  await world.clock.run(10 * MINUTE);
  assert.deepEqual([server.running?.is, server.disks[0]?.content], ["system", LEFT_OVER]);
  await world.change("node-1", { spec: { externallyProvisioned: false } });
  await world.clock.run(10 * MINUTE);
  hosts.setBoot(server.mac, "agent");
  server.restart();
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("an agent on a machine without a BMC leaves it to its system once it is declared as externally provisioned", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  server.on();
  await world.until("the agent registers", () => world.provisioning.hosts.get(server.mac)?.session !== undefined);
  await world.declare("node-1", { bmc: false, externallyProvisioned: true });
  await world.reaches("node-1", "externally provisioned");
  server.restart();
  await world.clock.run(10 * MINUTE);
  assert.deepEqual([server.running?.is, server.disks[0]?.content], ["system", LEFT_OVER]);
});

test("where Metal3's operator leads, nothing is done with its hosts, and those that nobody has begun with say so", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  const renewTime = () => rfc3339Micro(world.clock.now());
  const spec = { holderIdentity: "bmo", leaseDurationSeconds: 15, renewTime: renewTime() };
  const metadata = { name: "baremetal-operator", namespace: RACK };
  await world.whileTimePasses(world.client.create(Lease, { metadata, spec }));
  const leadFor = async (ms: number): Promise<void> => {
    for (const end = world.clock.now() + ms; world.clock.now() < end; ) {
      const body = { spec: { renewTime: renewTime() } };
      await world.whileTimePasses(world.client.patch(Lease, metadata, { type: "merge", body }));
      await world.clock.run(30 * SECOND);
    }
  };
  await leadFor(2 * MINUTE);
  await world.declare("node-1");
  await leadFor(10 * MINUTE);
  const host = await world.host("node-1");
  assert.deepEqual([server.starts, host?.status, host?.metadata.finalizers], [0, undefined, undefined]);
  const said = (await world.events("node-1")).map((each) => each.replace(/^\S+ /, ""));
  assert.deepEqual(said, [
    `DrivenElsewhere: Slipway leaves the host alone, beside Metal3's operator: Lease ${RACK}/baremetal-operator, which bmo renews`,
  ]);
  await world.reaches("node-1", "available");
});

test("a detached host is deleted as it is, or its deletion waits where the annotation says so", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  const detached = "baremetalhost.metal3.io/detached";
  await world.change("node-1", { metadata: { annotations: { [detached]: '{"deleteAction":"delay"}' } } });
  await world.remove("node-1");
  await world.until("it says so", async () =>
    /detached, which delays the deletion, to be taken off/.test((await world.host("node-1"))?.status?.waitingFor ?? ""),
  );
  await world.clock.run(60 * MINUTE);
  assert.equal((await world.host("node-1"))?.status?.provisioning?.state, "provisioned");
  await world.change("node-1", { metadata: { annotations: { [detached]: '{"deleteAction":"delete"}' } } });
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.deepEqual([server.isOn, server.disks[0]?.content?.image], [true, IMAGE.url], "nobody touched it");
});
