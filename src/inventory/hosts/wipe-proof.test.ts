import assert from "node:assert/strict";
import { test } from "node:test";
import type { Disk, Result } from "../../netboot/protocol/messages.ts";
import { wipeProof } from "./wipe-proof.ts";
import { worldWideName } from "./world-wide-name.ts";

const disk = (name: string, readOnly = false): Disk => ({ name, readOnly }) as unknown as Disk;
const wiped = (name: string, proven = true) => ({ disk: name, how: "nvme format", proven });
const result = (disks: object[] | undefined, more: Partial<Result> = {}): Result =>
  ({ ok: true, message: "done", ...(disks && { disks }), ...more }) as unknown as Result;
const said = (...of: Parameters<typeof wipeProof>): string => {
  const found = wipeProof(...of);
  return "proof" in found ? found.proof : found.problem;
};

test("N34 machines are wiped when each disk that can be written was read back, and the proof names each", () => {
  const disks = [wiped("/dev/sda"), wiped("/dev/sdb")];
  const proof = "wiped, and read back: /dev/sda (nvme format), /dev/sdb (nvme format)";
  assert.equal(said(result(disks), [disk("/dev/sda"), disk("/dev/sdb"), disk("/dev/sr0", true)]), proof);
  assert.equal(said(result([]), [disk("/dev/sr0", true)]), "wiped, and read back: no disks");
  assert.equal(said(result(undefined), []), "wiped, and read back: no disks");
});

for (const [what, of, known, problem] of [
  [
    "the agent failed",
    result([wiped("/dev/sda")], { ok: false, message: "a disk is busy" }),
    [disk("/dev/sda")],
    "a disk is busy",
  ],
  ["nobody knows the disks", result([wiped("/dev/sda")]), undefined, "its agent has not reported which it has"],
  [
    "a disk was left out",
    result([wiped("/dev/sda")]),
    [disk("/dev/sda"), disk("/dev/sdb")],
    "nothing is proven of /dev/sdb",
  ],
  ["a disk was not read back", result([wiped("/dev/sda", false)]), [disk("/dev/sda")], "nothing is proven of /dev/sda"],
  ["no disk was", result(undefined), [disk("/dev/sda"), disk("/dev/sdb")], "nothing is proven of /dev/sda, /dev/sdb"],
] as const)
  test(`N34 nothing is proven where ${what}`, () => {
    assert.deepEqual(wipeProof(of, known), { problem: `the disks are not wiped: ${problem}` });
  });

test("N34 a disk that nobody knew and that was not read back proves nothing of the rest", () => {
  const all = [wiped("/dev/sda"), wiped("/dev/sdx", false)];
  assert.deepEqual(wipeProof(result(all), [disk("/dev/sda")]), {
    problem: "the disks are not wiped: nothing is proven of /dev/sdx",
  });
});

test("a disk's name of 16 bytes has a part that is common to what was numbered together; others are one part", () => {
  const [common, rest] = ["6001405fffffffff", "0123456789abcdef"];
  assert.deepEqual(worldWideName(`0x${common}${rest}`), {
    ...{ wwn: `0x${common}`, wwnVendorExtension: `0x${rest}`, wwnWithExtension: `0x${common}${rest}` },
  });
  for (const whole of [
    "0x5000c500a1b2c3d4",
    `0x5001405fffffffff${rest}`,
    "eui.0025385b71b01234",
    `0x${common}${rest}0`,
  ])
    assert.deepEqual(worldWideName(whole), { wwn: whole, wwnWithExtension: whole });
});
