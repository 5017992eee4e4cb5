import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, type Log, quietLog } from "@slipway/base";
import { FakeLibvirt, handsOn } from "../testing.ts";
import { type DomainRead, readDomain } from "../xml/domain.ts";
import { bootCommands, carryOut } from "./carry-out.ts";

const LIVE: DomainRead = readDomain(`<domain><name>w0</name><devices>
  <disk device='disk'><target dev='vda'/><alias name='virtio-disk0'/></disk>
  <disk device='cdrom'><target dev='sda'/><alias name='sata0-0-0'/></disk>
  <interface type='network'><mac address='52:54:00:00:00:01'/><alias name='net0'/></interface></devices></domain>`);
const ORDER = { vda: 1, "52:54:00:00:00:01": 2 };
const STEP = {
  about: "w0",
  do: "boot-as-usual",
  domain: { name: "w0", uuid: "u", id: 1 },
  live: LIVE,
  order: ORDER,
} as const;

test("the boot order is taken from all devices before any gets its own, so that no two have the same", () => {
  const set = (alias: string, value: number) => ({
    execute: "qom-set",
    arguments: { path: `/machine/peripheral/${alias}`, property: "bootindex", value },
  });
  assert.deepEqual(bootCommands(LIVE, ORDER), [
    ...[set("net0", -1), set("virtio-disk0", -1), set("sata0-0-0", -1)],
    ...[set("net0", 2), set("virtio-disk0", 1)],
  ]);
});

test("a boot order that QEMU refuses is no reason to give up, a libvirt that has gone is", async () => {
  const libvirt = new FakeLibvirt();
  const warned: unknown[] = [];
  const log: Log = { ...quietLog, warn: (fields) => warned.push(fields) };
  const hands = { ...handsOn(libvirt), log };
  await carryOut(hands, STEP);
  assert.equal(libvirt.monitor.length, 5);
  assert.deepEqual(warned, []);
  libvirt.monitorCommand = async () => JSON.stringify({ error: { desc: "no such property" } });
  await carryOut(hands, STEP);
  assert.deepEqual(warned, [{ domain: "w0", error: "QEMU: no such property" }]);
  libvirt.monitorCommand = async () => {
    throw new Fault("LostAnswer", "libvirt", "it was closed");
  };
  await assert.rejects(carryOut(hands, STEP), { code: "LostAnswer" });
});

test("what runs is stopped before it is removed, and what is gone already is no fault", async () => {
  const libvirt = new FakeLibvirt();
  const network = await libvirt.defineNetwork("<network><name>n</name><uuid>u</uuid><bridge name='b'/></network>");
  const pool = await libvirt.definePool("<pool><name>p</name><uuid>u</uuid></pool>");
  await libvirt.startNetwork(network);
  await libvirt.startPool(pool);
  libvirt.changes.length = 0;
  const hands = handsOn(libvirt);
  for (const active of [true, false]) {
    await carryOut(hands, { about: "b", do: "remove-network", network, active });
    if (active) await carryOut(hands, { about: "p", do: "remove-pool", pool, active });
  }
  assert.deepEqual(libvirt.changes, ["stop network n", "undefine network n", "stop pool p", "undefine pool p"]);
});
