/** What users see of their own hardware: each promise on simulated servers, in virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault, rfc3339Micro } from "@slipway/base";
import { Lease, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { HostFirmwareSettings } from "../../src/kinds/metal3/host-firmware-settings.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { LEFT_OVER, OTHER_IMAGE } from "./inventory-life.ts";
import { IMAGE, type InventoryOptions, InventoryWorld, MINUTE, RACK, SECOND } from "./inventory-world.ts";

async function rack(t: TestContext, options: InventoryOptions = {}): Promise<InventoryWorld> {
  const world = await InventoryWorld.create(options);
  t.after(() => world.close());
  await world.start();
  return world;
}

const reasons = (events: readonly string[]): string[] => events.map((event) => /^\S+ (\w+):/.exec(event)![1]!);

test("N47 a host's life is visible step by step: states, history, conditions and events in Metal3's order", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  const states: string[] = [];
  world.onState("node-1", (state) => states.push(state));
  await world.declare("node-1");
  const available = await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
  assert.equal(available.status?.operationalStatus, "OK");
  assert.equal(available.status?.hardware?.storage?.length, 1);
  const data = await world.whileTimePasses(world.client.get(HardwareData, { namespace: RACK, name: "node-1" }));
  assert.deepEqual(data.spec.hardware, available.status?.hardware);

  await world.change("node-1", { spec: { image: IMAGE } });
  const provisioned = await world.reaches("node-1", "provisioned");
  assert.equal(provisioned.status?.provisioning?.image?.url, IMAGE.url);
  assert.ok(provisioned.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"));
  await world.until("the system runs", () => server.running?.is === "system");
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.equal(server.isOn, false);

  assert.deepEqual(states, [
    ...["registering", "inspecting", "preparing", "available", "provisioning", "provisioned"],
    ...["deprovisioning", "available", "powering off before delete", "deleting"],
  ]);
  const told = new Set(reasons(await world.events("node-1")));
  for (const reason of [
    ...["Registered", "InspectionComplete", "Prepared", "ProvisioningStarted", "ProvisioningComplete"],
    ...["DeprovisioningStarted", "DeprovisioningComplete", "PowerOn", "PowerOff", "DeletionStarted", "Deleted"],
  ])
    assert.ok(told.has(reason), reason);
});

test("without a BMC the agent does it all, and the host says when somebody has to start the machine", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { bmc: false });
  const unmanaged = await world.reaches("node-1", "unmanaged");
  assert.match(unmanaged.status?.waitingFor ?? "", /spec\.bmc, or the machine to start from the network/);
  server.on();
  await world.reaches("node-1", "available");
  await world.change("node-1", { spec: { image: IMAGE } });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.change("node-1", { spec: { image: null } });
  await world.until("it asks for somebody", async () =>
    /somebody to start the machine from the network/.test((await world.host("node-1"))?.status?.waitingFor ?? ""),
  );
  server.restart();
  const { starts } = server;
  await world.reaches("node-1", "available");
  assert.equal(server.disks[0]?.content, undefined);
  assert.equal(server.starts, starts + 1, "nothing of what ran is left in its memory");
});

test("a host without a BMC whose machine nobody starts for an hour says so, and goes on waiting", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { bmc: false, image: IMAGE });
  server.on();
  await world.until("the system runs", () => server.running?.is === "system");
  await world.change("node-1", { spec: { image: null } });
  await world.until("it is an error", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  const { status } = (await world.host("node-1"))!;
  assert.match(status?.errorMessage ?? "", /nobody has started the machine/);
  server.restart();
  await world.reaches("node-1", "available");
});

test("N34 a wipe that fails keeps the host out of the pool, and is visible; it is tried again", async (t) => {
  let failures = 2;
  const failure = (order: string) => (order === "wipe" && failures-- > 0 ? "/dev/nvme0n1: write error" : undefined);
  const world = await rack(t, { serverFaults: { ...SOUND, failure } });
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  await world.declare("node-1");
  await world.until("the failure shows", async () => (await world.host("node-1"))?.status?.errorCount === 1);
  const { status } = (await world.host("node-1"))!;
  assert.deepEqual([status?.operationalStatus, status?.errorType], ["error", "preparation error"]);
  assert.match(status?.errorMessage ?? "", /the disks are not wiped: \/dev\/nvme0n1: write error/);
  assert.equal(status?.conditions?.find(({ type }) => type === "Ready")?.status, "False");
  const { status: after } = await world.reaches("node-1", "available");
  assert.deepEqual([after?.errorCount, after?.errorMessage, after?.errorType], [0, "", undefined]);
});

test("N33 N35 a deletion ends though the disks can't be wiped, and an event says that they are not", async (t) => {
  const failure = (order: string) => (order === "wipe" && isBroken ? "write error" : undefined);
  let isBroken = false;
  const world = await rack(t, { serverFaults: { ...SOUND, failure } });
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  isBroken = true;
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 60 * MINUTE);
  assert.equal(server.isOn, false);
  assert.ok((await world.events("node-1")).some((event) => /NotWiped: .*could NOT be wiped in 3 tries/.test(event)));
});

test("N33 a deletion ends though it waits for an approval that nobody gives", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.reaches("node-1", "provisioned");
  const annotations = { "slipway.dev/approved": "0000-0000-0000-0000-0000-0000" };
  await world.change("node-1", { metadata: { annotations } });
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 200 * MINUTE);
});

test("of two hosts with one card neither gets anywhere; when one is deleted the other goes on by itself", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  world.rack("node-2");
  await world.declare("node-1");
  await world.declare("node-2", { bootMACAddress: server.mac });
  await world.until("both are told", async () => {
    const both = await Promise.all(["node-1", "node-2"].map((name) => world.host(name)));
    return both.every((host) => /card of the same machine/.test(host?.status?.waitingFor ?? ""));
  });
  await world.remove("node-2");
  await world.reaches("node-1", "available");
});

test("N34 a wipe that says nothing of a disk that the machine has reported is none", async (t) => {
  const world = await rack(t, { serverFaults: { ...SOUND, silentAbout: (disk) => isSilent && disk === "/dev/sdb" } });
  let isSilent = true;
  const disks = [
    { name: "/dev/sda", bytes: 1e11 },
    { name: "/dev/sdb", bytes: 1e11 },
  ];
  world.rack("node-1", { disks });
  await world.declare("node-1");
  await world.until("it is an error", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  assert.match((await world.host("node-1"))?.status?.errorMessage ?? "", /nothing is proven of \/dev\/sdb/);
  isSilent = false;
  await world.reaches("node-1", "available");
});

test("N33 a deletion ends though the BMC is gone for ever", async (t) => {
  let isGone = false;
  const world = await rack(t, { bmcFaults: unreachableWhile(() => isGone) });
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  isGone = true;
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined, 120 * MINUTE);
});

test("a BMC that refuses the credentials is an error that says so; the corrected Secret is taken up", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  world.rotate("node-1", "another than the Secret says");
  await world.declare("node-1");
  await world.until(
    "it is refused",
    async () => (await world.host("node-1"))?.status?.errorType === "registration error",
  );
  const { status } = (await world.host("node-1"))!;
  assert.match(status?.errorMessage ?? "", /refuses user name and password/);
  assert.equal(status?.goodCredentials, undefined);
  await world.setPassword("node-1", "corrected");
  const { status: after } = await world.reaches("node-1", "available");
  assert.equal(after?.goodCredentials?.credentials?.name, "node-1-bmc");
});

test("credentials that are rotated while the host is in use are noticed, and the host's system is not touched", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.reaches("node-1", "provisioned");
  const { starts } = server;
  world.rotate("node-1", "new");
  await world.until("it shows", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  await world.setPassword("node-1", "new");
  await world.until("it is over", async () => (await world.host("node-1"))?.status?.operationalStatus === "OK");
  assert.equal(server.starts, starts);
});

test("a missing Secret is named, and the host goes on when it is there", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1");
  await world.whileTimePasses(world.client.delete(Secret, { namespace: RACK, name: "node-1-bmc" }));
  await world.until("it is missed", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  assert.match(
    (await world.host("node-1"))?.status?.errorMessage ?? "",
    /Secret\/slipway-hosts\/node-1-bmc: .* are not there/,
  );
  await world.secret("node-1", { username: "admin", password: "right" });
  await world.reaches("node-1", "available");
});

test("an image in the place of another is installed on wiped disks, also while the first is being written", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioning");
  await world.change("node-1", { spec: { image: OTHER_IMAGE } });
  await world.until(
    "the other runs",
    () => server.running?.is === "system" && server.running.image === OTHER_IMAGE.url,
  );
  assert.equal((await world.reaches("node-1", "provisioned")).status?.provisioning?.image?.url, OTHER_IMAGE.url);
});

test("power follows spec.online; reboot annotations end a system and start it again; whoever holds one keeps it off", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.reaches("node-1", "provisioned");
  await world.change("node-1", { spec: { online: false } });
  await world.until("it is off", async () => !server.isOn && (await world.host("node-1"))?.status?.poweredOn === false);
  await world.change("node-1", { spec: { online: true } });
  await world.until("the system runs again", () => server.running?.is === "system");

  const { starts } = server;
  await world.change("node-1", { metadata: { annotations: { "reboot.metal3.io": "" } } });
  await world.until("it started again", () => server.starts === starts + 1 && server.running?.is === "system");
  assert.equal((await world.host("node-1"))?.metadata.annotations?.["reboot.metal3.io"], undefined);

  await world.change("node-1", { metadata: { annotations: { "reboot.metal3.io/fence": '{"mode":"hard"}' } } });
  await world.until("it is off", () => !server.isOn);
  await world.clock.run(30 * MINUTE);
  assert.equal(server.isOn, false);
  await world.change("node-1", { metadata: { annotations: { "reboot.metal3.io/fence": null } } });
  await world.until("the system runs once more", () => server.running?.is === "system");
});

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

test("disks are left as they are where the host says so, and what can't be done is refused with the field", async (t) => {
  const world = await rack(t);
  world.rack("node-1").disks[0]!.content = LEFT_OVER;
  world.rack("node-2");
  await world.declare("node-1", { automatedCleaningMode: "disabled", inspectionMode: "disabled" });
  await world.reaches("node-1", "available");
  assert.deepEqual(world.servers.get("node-1")!.disks[0]?.content, LEFT_OVER);
  await world.declare("node-2", { raid: { softwareRAIDVolumes: [{ level: "1", rootVolume: true }] } });
  await world.until(
    "it is refused",
    async () => (await world.host("node-2"))?.status?.errorType === "preparation error",
  );
  assert.match((await world.host("node-2"))?.status?.errorMessage ?? "", /spec\.raid: Slipway makes no RAID volumes/);
});

test("an image is written only by http, with a checksum, to a disk that its hints choose", async (t) => {
  const world = await rack(t);
  const cases: [object, RegExp][] = [
    [{ image: { url: "file:///etc/shadow", checksum: IMAGE.checksum, checksumType: "sha256" } }, /only http and https/],
    [{ image: { url: "/etc/shadow", checksum: IMAGE.checksum, checksumType: "sha256" } }, /only http and https/],
    [{ image: { url: IMAGE.url } }, /only written when it can be checked/],
    [{ image: { ...IMAGE, format: "vmdk" } }, /vmdk is not written/],
    [{ image: IMAGE, rootDeviceHints: { serialNumber: "none" } }, /serialNumber/],
    [{ image: IMAGE, userData: { name: "other", namespace: "kube-system" } }, /in the host's own namespace/],
    [{ image: IMAGE, userData: { name: "missing" } }, /Secret slipway-hosts\/missing is not there/],
    [{ customDeploy: { method: "unheard-of" } }, /spec\.customDeploy\.method/],
  ];
  for (const [i, [spec, expected]] of cases.entries()) {
    const name = `node-${i}`;
    world.rack(name);
    await world.declare(name, { ...spec, automatedCleaningMode: "disabled" });
    const failed = async () => (await world.host(name))?.status?.errorType === "provisioning error";
    await world.until(`${name} is refused`, failed);
    const { status } = (await world.host(name))!;
    assert.match(status?.errorMessage ?? "", expected);
    assert.ok((status?.provisioningFailCount ?? 0) >= 1);
  }
});

test("the disk is the one that the hints name, whatever its size", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1", {
    disks: [
      { name: "/dev/sda", bytes: 1e11 },
      { name: "/dev/sdb", bytes: 2e11 },
    ],
  });
  await world.declare("node-1", { image: IMAGE, rootDeviceHints: { deviceName: "/dev/sdb" } });
  await world.until("the system runs", () => server.running?.is === "system");
  assert.deepEqual(
    server.disks.map(({ content }) => content?.image),
    [undefined, IMAGE.url],
  );
});

test("without bootMACAddress nobody knows which machine a host is: the cards that its BMC names are told", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1", { bootMACAddress: undefined });
  await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  const { status } = (await world.host("node-1"))!;
  assert.match(status?.errorMessage ?? "", /bootMACAddress .* is not set: the BMC names 52:54:00:00:00:01/);
  await world.change("node-1", { spec: { bootMACAddress: world.servers.get("node-1")!.mac } });
  await world.reaches("node-1", "available");
});

test("whoever declares a machine that another host uses gets nothing of it, and does nothing to it", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  const thief = world.rack("thief");
  // The machine of a discovered host, in use.
  server.on();
  const name = `host-${server.mac.replaceAll(":", "-")}`;
  await world.reaches(name, "unmanaged");
  await world.change(name, { metadata: { annotations: { "slipway.dev/approved": "true" } }, spec: { image: IMAGE } });
  await world.reaches(name, "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  const { starts } = server;
  await world.declare("thief", { bootMACAddress: server.mac });
  await world.until("it is told", async () =>
    /card of the same machine/.test((await world.host("thief"))?.status?.waitingFor ?? ""),
  );
  await world.clock.run(60 * MINUTE);
  assert.deepEqual([server.starts, server.running?.is, thief.starts], [starts, "system", 0]);
  assert.equal((await world.host("thief"))?.status?.hardware, undefined);
  await world.remove("thief");
  await world.until("it is gone", async () => (await world.host("thief")) === undefined);
  server.restart();
  await world.until("the system runs again", () => server.running?.is === "system");
  await world.change(name, { spec: { image: null } });
  server.restart();
  await world.reaches(name, "available");
});

test("a discovered host is driven once it is approved, and not before", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  server.on();
  const name = `host-${server.mac.replaceAll(":", "-")}`;
  await world.reaches(name, "unmanaged");
  await world.clock.run(10 * MINUTE);
  assert.deepEqual(server.disks[0]?.content, LEFT_OVER);
  await world.change(name, { metadata: { annotations: { "slipway.dev/approved": "true" } } });
  await world.reaches(name, "available");
  assert.equal(server.disks[0]?.content, undefined);
});

test("where Metal3's operator leads, nothing is done with its hosts", async (t) => {
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
  await world.reaches("node-1", "available");
});

test("while netboot can't serve, a new host says so, and one in use is not written to", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  await world.clock.run(5 * MINUTE);
  const before = await world.host("node-1");
  world.serving = false;
  world.rack("node-2");
  await world.declare("node-2");
  await world.change("node-1", { metadata: { labels: { touched: "yes" } } });
  await world.clock.run(5 * MINUTE);
  assert.match((await world.host("node-2"))?.status?.waitingFor ?? "", /netboot to serve/);
  assert.deepEqual((await world.host("node-1"))?.status, before?.status);
  world.serving = true;
  await world.reaches("node-2", "available");
});

test("only so many hosts are worked on at once, and one that fails does not keep others waiting", async (t) => {
  const failure = (order: string) => (order === "wipe" ? "write error" : undefined);
  const world = await rack(t, { most: 2 });
  const names = ["node-1", "node-2", "node-3", "node-4", "node-5"];
  for (const name of names) world.rack(name);
  world.servers.get("node-1")!.faults = { ...SOUND, failure };
  for (const name of names) await world.declare(name);
  let most = 0;
  await world.until("the others are available", async () => {
    const hosts = await world.hosts();
    const agents = [...world.servers.values()].filter(({ isOn }) => isOn).length;
    most = Math.max(most, agents);
    return hosts.filter(({ status }) => status?.provisioning?.state === "available").length === names.length - 1;
  });
  assert.ok(most > 1);
});

function unreachableWhile(isGone: () => boolean) {
  return () => () => {
    if (isGone()) throw new Error("connect ECONNREFUSED");
  };
}

test("of a machine that an older version made two hosts of one is left, which goes on; the machine stays known", async (t) => {
  const world = await rack(t);
  const second = "52:54:00:00:ff:01";
  const server = world.rack("node-1", { macs: [second] });
  const labels = { "slipway.dev/discovered": "true" };
  const nameOf = (mac: string): string => `host-${mac.replaceAll(":", "-")}`;
  for (const mac of [second, server.mac]) {
    const spec = { online: true, automatedCleaningMode: "metadata", bootMACAddress: mac } as const;
    const metadata = { name: nameOf(mac), namespace: RACK, labels };
    await world.whileTimePasses(world.client.create(BareMetalHost, { metadata, spec }));
    await world.clock.run(5 * SECOND);
  }
  server.on();
  const { hosts } = world.provisioning;
  await world.until("its agent registers", () => hosts.get(server.mac)?.session !== undefined);
  hosts.join(hosts.get(server.mac)!.name, second);
  await world.until("one is left", async () => (await world.hosts()).length === 1);
  assert.deepEqual(hosts.get(second)?.macs, [server.mac, second]);
  await world.change(nameOf(second), { metadata: { annotations: { "slipway.dev/approved": "true" } } });
  await world.reaches(nameOf(second), "available");
});

test("the firmware's settings are shown as the BMC shows them, without passwords, and none is written", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.firmwareSettings = [
    { name: "ProcVirtualization", value: "Enabled", type: "Enumeration", allowed: ["Enabled", "Disabled"] },
    { name: "BootRetries", value: 3, type: "Integer" },
    { name: "SetupSecret", value: "hidden", type: "Password" },
    { name: "AdminPassword", value: "hidden" },
  ];
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const ref = { name: "node-1", namespace: RACK };
  const read = () => world.whileTimePasses(world.client.get(HostFirmwareSettings, ref));
  const first = await read();
  assert.deepEqual(first.status?.settings, { ProcVirtualization: "Enabled", BootRetries: "3" });
  assert.equal(first.metadata.ownerReferences?.[0]?.name, "node-1");
  const body = { spec: { settings: { ProcVirtualization: "Disabled" } } };
  await world.whileTimePasses(world.client.patch(HostFirmwareSettings, ref, { type: "merge", body }));
  server.firmwareSettings = [{ name: "BootRetries", value: 5 }];
  await world.change("node-1", { metadata: { annotations: { "inspect.metal3.io": "" } } });
  await world.until("it is read again", async () => (await read()).status?.settings?.BootRetries === "5");
  const { status } = await read();
  const said = status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]);
  assert.deepEqual(said, [
    ["ChangeDetected", "True", "NotAsWanted"],
    ["Valid", "False", "ReadOnly"],
  ]);
});

test("a BMC that does not show its firmware's settings says so, and the host goes on", async (t) => {
  const refuse = (call: string): void => {
    if (call === "firmwareSettings") throw new Fault("Unavailable", "bmc of node-1", "its Bios can't be read now");
  };
  const world = await rack(t, { bmcFaults: () => refuse });
  world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  assert.ok(
    (await world.events("node-1")).some((event) => /FirmwareSettingsNotRead: .*Bios can't be read/.test(event)),
  );
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
