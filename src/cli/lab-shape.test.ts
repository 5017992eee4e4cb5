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

test("a cluster has one machine to spare, BMCs, and firmware that boots the node image by iPXE", () => {
  assert.deepEqual(labOf({ ...WISH, cluster: 3 }, NOTHING), { machines: 4, firmware: ["bios"], bmc: true });
  const chosen = { hasMachines: true, hasFirmware: true };
  const wish: LabWish = { ...WISH, machines: 2, firmware: ["uefi", "bios"], cluster: 2 };
  assert.deepEqual(labOf(wish, chosen), { machines: 2, firmware: ["uefi", "bios"], bmc: true });
  assert.throws(() => labOf({ ...wish, machines: 1 }, chosen), /a cluster of 2 needs as many machines/);
  assert.throws(() => labOf({ ...wish, firmware: ["uefi-secure"] }, chosen), /a cluster can't have uefi-secure/);
});

test("what does not go with a cluster is refused by its name", () => {
  for (const [option, more] of [
    ["--pool", { pool: true }],
    ["--iso", { iso: "/a.iso" }],
    ["--files", { files: "/images" }],
  ] as const)
    assert.throws(
      () => labOf({ ...WISH, cluster: 3, ...more }, NOTHING),
      (error: Error & { on?: string }) => error.on === option,
      option,
    );
});

test("the manifests of 2019 have as many machines as they name, BMCs, and firmware that boots the node image; what does not go with them is refused", () => {
  assert.deepEqual(labOf({ ...WISH, plunder: 2 }, NOTHING), { machines: 2, firmware: ["bios"], bmc: true });
  assert.throws(
    () => labOf({ ...WISH, machines: 1, plunder: 2 }, { ...NOTHING, hasMachines: true }),
    /a cluster of 2 needs as many machines$/,
  );
  for (const [option, more] of [
    ["--pool", { pool: true }],
    ["--cluster", { cluster: 3 }],
    ["--files", { files: "/images" }],
  ] as const)
    assert.throws(
      () => labOf({ ...WISH, plunder: 2, ...more }, NOTHING),
      (error: Error & { on?: string }) => error.on === option,
      option,
    );
});

test("machines that do not fit into the memory are refused with both figures", () => {
  checkMemory(4 * 2 ** 30, 4 * 2 ** 30);
  assert.throws(() => checkMemory(4 * 2 ** 30, 3 * 2 ** 30), /need 4\.0 GiB of memory, 3\.0 GiB are free/);
});

test("a Vino's machines are libvirt's, and what asks for others is refused by its name", () => {
  assert.deepEqual(labOf({ ...WISH, vino: true }, NOTHING), { machines: 0, firmware: [], bmc: false });
  for (const [option, more, chosen] of [
    ["--pool", { pool: true }, NOTHING],
    ["--cluster", { cluster: 3 }, NOTHING],
    ["--iso", { iso: "/a.iso" }, NOTHING],
    ["--files", { files: "/images" }, NOTHING],
    ["--bmc", { bmc: true }, NOTHING],
    ["--machines", {}, { ...NOTHING, hasMachines: true }],
    ["--firmware", {}, { ...NOTHING, hasFirmware: true }],
  ] as const)
    assert.throws(
      () => labOf({ ...WISH, vino: true, ...more }, chosen),
      (error: Error & { on?: string }) => error.on === option,
      option,
    );
});
