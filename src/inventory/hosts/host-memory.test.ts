import assert from "node:assert/strict";
import { test } from "node:test";
import { HostMemory } from "./host-memory.ts";

test("what a process remembers of a host is that host's alone, and gone with it", () => {
  const memory = new HostMemory();
  memory.noteOrder("a", "order-1");
  memory.noteInstall("a", "install-1");
  memory.noteStart("a", "12:00");
  memory.noteFirmware("a", "11:00");
  const known = (key: string) => [
    memory.offers(key, "order-1"),
    memory.offers(key, "install-1"),
    memory.hasStarted(key, "12:00"),
    memory.hasReadFirmware(key, "11:00"),
  ];
  assert.deepEqual(known("a"), [true, true, true, true]);
  assert.deepEqual(known("b"), [false, false, false, false]);
  assert.deepEqual([memory.offers("a", "order-2"), memory.hasStarted("a", "12:01")], [false, false]);
  assert.equal(memory.hasReadFirmware("a", "11:01"), false);
  memory.forget("a");
  assert.deepEqual(known("a"), [false, false, false, false]);
});

test("firmware settings that nobody has read are not read, whatever the inspection", () => {
  const memory = new HostMemory();
  assert.equal(memory.hasReadFirmware("a", undefined), false);
  memory.noteFirmware("a", undefined);
  assert.equal(memory.hasReadFirmware("a", undefined), true);
});
