/** Own hardware that fails, hangs or is claimed twice: nothing is lost, and the host's status says what is wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { hostName } from "../../src/netboot/hosts/host.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, MINUTE, RACK, rack, SECOND } from "./inventory-world.ts";

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
  await world.until("both say so", async () => {
    const both = await Promise.all(["node-1", "node-2"].map((name) => world.host(name)));
    return both.every((host) => /card of the same machine/.test(host?.status?.waitingFor ?? ""));
  });
  await world.remove("node-2");
  await world.reaches("node-1", "available");
});

for (const bmc of [true, false])
  test(`what discovery made of a machine gives way to who declares it afterwards, ${bmc ? "with" : "without"} a BMC`, async (t) => {
    const world = await rack(t);
    const server = world.rack("node-1");
    server.on();
    const found = hostName(server.mac);
    await world.reaches(found, "unmanaged");
    await world.declare("node-1", { bmc });
    await world.reaches("node-1", "available", 60 * MINUTE);
    assert.equal((await world.host(found))?.status?.provisioning?.state ?? "gone", "unmanaged");
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
  await world.until("its status says so", async () =>
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

test("N33 while netboot can't serve, a new host says so, and one in use is not written to", async (t) => {
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

function unreachableWhile(isGone: () => boolean) {
  return () => () => {
    if (isGone()) throw new Error("connect ECONNREFUSED");
  };
}
