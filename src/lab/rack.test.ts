import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { planMachines, specOf } from "./rack.ts";
import { noNetwork, putQemu, QEMU, runInNetwork } from "./testing.ts";

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

test("a loader is given to the machine that is planned with it, and to no other", () => {
  const loader = { kernel: "/lab/kernel", initrd: "/lab/initrd" };
  const [plan] = planMachines(1, ["bios"], SIZE);
  assert.deepEqual(specOf({ ...plan!, loader }, 1, "/lab").loader, loader);
  assert.equal("loader" in specOf(plan!, 1, "/lab"), false);
});

test("BIOS machines have disks that their firmware boots from, UEFI machines NVMe", () => {
  const [bios, uefi] = planMachines(2, ["bios", "uefi"], SIZE).map((plan, at) => specOf(plan, at + 1, "/lab"));
  assert.deepEqual([bios!.disks[0]!.bus, uefi!.disks[0]!.bus], ["virtio", "nvme"]);
});

const program = (folder: string): string => `
  import { readdirSync, readFileSync, statSync } from "node:fs";
  import { planMachines, setUpRack } from ${JSON.stringify(import.meta.resolve("./rack.ts"))};
  const folder = ${JSON.stringify(folder)};
  process.env.PATH = folder + ":" + process.env.PATH;
  const rack = await setUpRack(folder, planMachines(2, ["bios"], { memoryMiB: 1, diskBytes: 5_000_000 }));
  said(links());
  said(rack.machines.map(({ on, spec: { disks } }) => [on, statSync(disks[0].file).size, statSync(disks[0].file).mode & 0o777]));
  said(readdirSync(folder + "/lab-1").sort());
  await rack.powerOn();
  said(rack.machines.map(({ on }) => on));
  for (const { console: serial, spec } of rack.machines) await serial.shows(new RegExp("up: " + spec.name), new AbortController().signal);
  await rack.close();
  said(rack.machines.map(({ on }) => on));
  said(links());
  said([readdirSync(folder + "/lab-1"), readFileSync(folder + "/lab-2/console.log", "latin1")]);
`;

test("a rack's machines are plugged in and off, begin with blank disks, and leave nothing but what they said", {
  skip: noNetwork(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-rack-"));
  t.after(() => rmSync(folder, { recursive: true }));
  putQemu(folder, QEMU);
  mkdirSync(join(folder, "lab-1"));
  writeFileSync(join(folder, "lab-1", "of-an-earlier-rack"), "");
  const [plugged, machines, files, on, off, left, kept] = await runInNetwork(program(folder));
  assert.deepEqual(plugged, ["lab0-a<lab0", "lab0-b<", "lab0<", "tap-lab-1<lab0", "tap-lab-2<lab0"]);
  assert.deepEqual(machines, Array(2).fill([false, 5_000_000, 0o600]));
  assert.deepEqual(files, ["console.log", "disk.img"]);
  assert.deepEqual(
    [on, off],
    [
      [true, true],
      [false, false],
    ],
  );
  assert.deepEqual(left, []);
  assert.deepEqual(kept, [["console.log"], "up: lab-2\nordered qmp_capabilities\n"]);
  assert.equal(statSync(join(folder, "lab-1")).mode & 0o777, 0o700);
  assert.equal(existsSync(join(folder, "lab-2", "disk.img")), false);
});
