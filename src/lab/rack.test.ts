import assert from "node:assert/strict";
import { test } from "node:test";
import { planMachines, specOf } from "./rack.ts";

const SIZE = { memoryMiB: 1024, diskBytes: 4 * 2 ** 30 };

test("firmwares go to the machines in turn", () => {
  assert.deepEqual(
    planMachines(3, ["bios", "uefi"], SIZE).map(({ name, firmware }) => `${name} ${firmware}`),
    ["lab-1 bios", "lab-2 uefi", "lab-3 bios"],
  );
});

test("each machine is distinguished by address, serial number and disk, and has them at every start", () => {
  const specs = planMachines(20, ["bios", "uefi", "arm64"], SIZE).map((plan, at) => specOf(plan, at + 1, `/lab/${at}`));
  for (const part of [
    specs.map(({ mac }) => mac),
    specs.map(({ uuid }) => uuid),
    specs.map(({ disks }) => disks[0]!.serial),
  ])
    assert.equal(new Set(part).size, 20);
  assert.deepEqual(specOf(planMachines(1, ["bios"], SIZE)[0]!, 1, "/lab/0"), specs[0]);
});

test("BIOS machines have disks that their firmware boots from, UEFI machines NVMe", () => {
  const [bios, uefi] = planMachines(2, ["bios", "uefi"], SIZE).map((plan, at) => specOf(plan, at + 1, "/lab"));
  assert.deepEqual([bios!.disks[0]!.bus, uefi!.disks[0]!.bus], ["virtio", "nvme"]);
});
