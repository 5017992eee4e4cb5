/** What users see of their own hardware: each promise on simulated servers, in virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { LEFT_OVER, OTHER_IMAGE } from "./inventory-life.ts";
import { IMAGE, MINUTE, RACK, rack } from "./inventory-world.ts";

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

test("N29 an error in one host's definition is that host's alone: the others are installed, and it is once it is mended", async (t) => {
  const world = await rack(t);
  const wrong: Record<string, object> = {
    "no-profile": { customDeploy: { method: "preseed/none" } },
    "no-disk": { image: IMAGE, rootDeviceHints: { serialNumber: "none" } },
    "no-secret": { image: IMAGE, userData: { name: "missing" } },
    "no-scheme": { scheme: "carrier-pigeon", image: IMAGE },
  };
  // The wrong ones are there first, with good ones between them.
  const names = Object.keys(wrong).flatMap((name) => [name, `beside-${name}`]);
  for (const name of names) {
    world.rack(name);
    await world.declare(name, wrong[name] ?? { image: IMAGE });
  }
  for (const name of names.filter((each) => !(each in wrong))) {
    await world.reaches(name, "provisioned");
    assert.equal((await world.host(name))?.status?.errorCount, 0);
  }
  for (const name of Object.keys(wrong))
    await world.until(
      `${name} is an error`,
      async () => (await world.host(name))?.status?.operationalStatus === "error",
    );
  await world.change("no-disk", { spec: { rootDeviceHints: null } });
  await world.reaches("no-disk", "provisioned");
});

test("N28 the disk is the one that the hints name, whatever its size", async (t) => {
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

test("only so many hosts are worked on at once, and those that fail do not keep others waiting", async (t) => {
  const failure = (order: string) => (order === "wipe" ? "write error" : undefined);
  const world = await rack(t, { most: 2 });
  const names = ["node-1", "node-2", "node-3", "node-4", "node-5"];
  for (const name of names) world.rack(name);
  // As many as there are places.
  for (const name of ["node-1", "node-2"]) world.servers.get(name)!.faults = { ...SOUND, failure };
  for (const name of names) await world.declare(name);
  let most = 0;
  await world.until("the others are available", async () => {
    const hosts = await world.hosts();
    const agents = [...world.servers.values()].filter(({ isOn }) => isOn).length;
    most = Math.max(most, agents);
    return hosts.filter(({ status }) => status?.provisioning?.state === "available").length === names.length - 2;
  });
  assert.ok(most > 1);
});
