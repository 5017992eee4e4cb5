import assert from "node:assert/strict";
import { test } from "node:test";
import { checkMemory, type LabWish, labOf } from "./lab-shape.ts";

const WISH: LabWish = { machines: 3, firmware: ["bios", "uefi"], bmc: false };
const NOTHING = { hasMachines: false, hasFirmware: false };

test("without a pool a lab is what was asked for", () => {
  assert.deepEqual(labOf(WISH, NOTHING), WISH);
});

test("a pool has one machine to spare, BMCs, and firmware that its installer starts on", () => {
  const expected = { machines: 4, firmware: ["uefi"], bmc: true, pool: { count: 3 } };
  assert.deepEqual(labOf({ ...WISH, pool: true }, NOTHING), expected);
  assert.deepEqual(labOf({ ...WISH, pool: 2, iso: "/a.iso" }, NOTHING), {
    ...expected,
    machines: 3,
    pool: { count: 2, iso: "/a.iso" },
  });
});

test("machines and firmware that were chosen stay, where a pool can have them", () => {
  const chosen = { hasMachines: true, hasFirmware: true };
  const wish: LabWish = { ...WISH, machines: 5, firmware: ["uefi", "uefi-http"], pool: 2 };
  assert.deepEqual(labOf(wish, chosen), {
    machines: 5,
    firmware: ["uefi", "uefi-http"],
    bmc: true,
    pool: { count: 2 },
  });
  assert.throws(() => labOf({ ...wish, machines: 1 }, chosen), /a pool of 2 needs as many machines/);
  for (const other of ["bios", "uefi-secure", "arm64"] as const)
    assert.throws(
      () => labOf({ ...wish, firmware: ["uefi", other] }, chosen),
      new RegExp(`a pool can't have ${other}`),
    );
});

test("a pool of none, and an ISO without a pool, are refused with what to say", () => {
  assert.throws(() => labOf({ ...WISH, pool: 0 }, NOTHING), /at least one machine/);
  assert.throws(() => labOf({ ...WISH, iso: "/a.iso" }, NOTHING), /nothing installs it/);
});

test("machines that do not fit into the memory are refused with both figures", () => {
  checkMemory(4 * 2 ** 30, 4 * 2 ** 30);
  assert.throws(() => checkMemory(4 * 2 ** 30, 3 * 2 ** 30), /need 4\.0 GiB of memory, 3\.0 GiB are free/);
});
