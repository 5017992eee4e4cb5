import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, isFault, quietLog, seededRandom, systemClock } from "@slipway/base";
import { type Context, createClient } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { BootStore } from "../../bootstrap/boot-store.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { MachineDriver } from "../../machines/machine.ts";
import { fetchesBoot, MachineBoots } from "./boots.ts";
import { aPacketMachine } from "./testing.ts";

const HOUR = 60 * 60_000;
const IMAGE = {
  kernel: "https://images.test/vmlinuz",
  initrd: "https://images.test/initrd",
  kernelArguments: ["quiet"],
};
const driver = (userData: boolean) =>
  ({
    capabilities: { userData },
    imageOf: (os: string) => (os === "ubuntu_24_04" ? IMAGE : undefined),
  }) as unknown as MachineDriver;

function desk() {
  const time = { now: Date.UTC(2026, 0, 1) };
  const clock = { ...systemClock, now: () => time.now, monotonic: () => time.now };
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const context = { client, clock, random: seededRandom(1) } as unknown as Context;
  const store = new BootStore({ namespace: "slipway", clock });
  const boots = new MachineBoots({ url: "https://boot.test/", store });
  const prepare = (machine: PacketMachine, userData = false) =>
    boots.prepare(context, machine, { driver: driver(userData), data: "#cloud-config" });
  return { time, context, client, store, boots, prepare };
}
const of = (boot: { id: string; at: number }) => ({
  boot: { id: boot.id, pass: 1, at: new Date(boot.at).toISOString() },
});

test("a provider with user data gets the data with the order, and the boot that the status names stays", async () => {
  const { time, prepare } = desk();
  const first = await prepare(aPacketMachine({ ipxeURL: "https://own.test/script" }), true);
  assert.deepEqual([first.userData, first.scriptUrl, first.at], ["#cloud-config", "https://own.test/script", time.now]);
  assert.equal((await prepare(aPacketMachine(), true)).scriptUrl, "");
  const held = await prepare(aPacketMachine({}, { boot: { id: "b9", pass: 1, at: "2025-12-31T00:00:00Z" } }), true);
  assert.deepEqual([held.id, held.at], ["b9", Date.UTC(2025, 11, 31)]);
  assert.deepEqual([fetchesBoot(driver(true)), fetchesBoot(driver(false))], [false, true]);
});

test("a machine of the network boots the image that fetches its data, and no user data are ordered", async () => {
  const { context, client, store, prepare, time } = desk();
  const boot = await prepare(aPacketMachine());
  assert.equal(boot.userData, "");
  assert.match(boot.scriptUrl, /^https:\/\/boot\.test\/boot\/uid-1\/[\w-]{43}\/ipxe$/);
  assert.equal(await store.read(client, "uid-1"), undefined);
  await boot.publish();
  const record = (await store.read(context.client, "uid-1"))!;
  assert.deepEqual(
    [record.config, record.metaData, record.expiresAt],
    ["#cloud-config", "instance-id: uid-1\nlocal-hostname: worker-1\n", time.now + 6 * HOUR],
  );
  const seed = boot.scriptUrl.replace(/ipxe$/, "");
  assert.ok(record.script.includes(`ds=nocloud;s=${seed}`), record.script);
  assert.ok(record.script.includes(IMAGE.kernel) && record.script.includes("quiet"), record.script);
});

test("a boot is used again while it lasts and the status names it; else the machine gets a new one", async () => {
  const { time, context, client, store, boots, prepare } = desk();
  const first = await prepare(aPacketMachine());
  await first.publish();
  time.now += 6 * HOUR - 1;
  const again = await prepare(aPacketMachine({}, of(first)));
  assert.deepEqual([again.id, again.scriptUrl, again.at], [first.id, first.scriptUrl, first.at]);
  const unknown = await prepare(aPacketMachine());
  assert.notEqual(unknown.id, first.id);
  assert.equal(unknown.at, time.now);
  assert.notEqual((await prepare(aPacketMachine({}, of({ ...first, id: "other" })))).id, first.id);
  time.now += 1;
  assert.notEqual((await prepare(aPacketMachine({}, of(first)))).id, first.id);
  time.now -= HOUR;
  await store.publish(
    client,
    { resource: PacketMachine, object: aPacketMachine() },
    {
      ...(await store.read(client, "uid-1"))!,
      closed: true,
    },
  );
  assert.notEqual((await prepare(aPacketMachine({}, of(first)))).id, first.id);
  await boots.remove(context, aPacketMachine());
  assert.equal(await store.read(client, "uid-1"), undefined);
});

test("an operating system without an image is refused with the field to add it to", async () => {
  await assert.rejects(
    desk().prepare(aPacketMachine({ os: "beos" })),
    (error) =>
      isFault(error, "Invalid") &&
      error.on === "PacketMachine/shop/worker-1" &&
      /boots as beos; add beos to its spec\.inventory\.operatingSystems/.test(error.advice),
  );
});
