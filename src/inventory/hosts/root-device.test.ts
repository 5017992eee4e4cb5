import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import fc from "fast-check";
import type { Disk } from "../../netboot/protocol/messages.ts";
import { type RootDeviceHints, rootDevice } from "./root-device.ts";

const GIB = 2 ** 30;
const disk = (change: Partial<Disk>): Disk => ({
  name: "/dev/sda",
  byId: [],
  bytes: 100 * GIB,
  rotational: false,
  readOnly: false,
  logicalBlock: 512,
  ...change,
});

const SATA = disk({
  name: "/dev/sda",
  byId: ["ata-ST4000_Z1", "wwn-0x5000c500a1b2c3d4"],
  byPath: "pci-0000:00:17.0-ata-1",
  bytes: 4000e9,
  rotational: true,
  model: "ST4000NM0035",
  vendor: "ATA",
  serial: "Z1",
  wwn: "0x5000c500a1b2c3d4",
  hctl: "0:0:0:0",
});
const VOLUME = disk({
  name: "/dev/sdb",
  byId: ["scsi-36b8ca3a0f5c1d80029e1a3f4f0b1c2d3", "wwn-0x6b8ca3a0f5c1d80029e1a3f4f0b1c2d3"],
  bytes: 480e9,
  rotational: true,
  model: "PERC H730 Mini",
  vendor: "DELL",
  serial: "0029e1a3",
  wwn: "0x6b8ca3a0f5c1d80029e1a3f4f0b1c2d3",
  hctl: "1:2:0:0",
});
const NVME = disk({
  name: "/dev/nvme0n1",
  byId: ["nvme-SAMSUNG_S4", "nvme-eui.0025385b01"],
  bytes: 960e9,
  model: "SAMSUNG MZQL2960HCJR",
  serial: "S4",
  wwn: "eui.0025385b01",
});
const DISKS = [SATA, VOLUME, NVME];
/** What is taken when a hint is not heeded. */
const DECOY = disk({ name: "/dev/vda", bytes: 8 * GIB });

const chosen = (hints: RootDeviceHints | undefined, disks: readonly Disk[] = DISKS): string =>
  rootDevice(disks, hints).disk.name;

const rules: readonly [string, RootDeviceHints, string][] = [
  ["a device file", { deviceName: "/dev/sdb" }, "/dev/sdb"],
  ["a name by path", { deviceName: "/dev/disk/by-path/pci-0000:00:17.0-ata-1" }, "/dev/sda"],
  ["a name by id, which HardwareData shows", { deviceName: "/dev/disk/by-id/nvme-eui.0025385b01" }, "/dev/nvme0n1"],
  ["a SCSI address", { hctl: "1:2:0:0" }, "/dev/sdb"],
  ["a part of the model, in any case", { model: "perc" }, "/dev/sdb"],
  ["a part of the vendor", { vendor: "del" }, "/dev/sdb"],
  ["a serial number, in any case", { serialNumber: "s4" }, "/dev/nvme0n1"],
  ["a size", { minSizeGigabytes: 500 }, "/dev/sda"],
  ["a disk that turns", { rotational: true }, "/dev/sda"],
  ["a disk that does not turn", { rotational: false }, "/dev/nvme0n1"],
  ["a name of 8 bytes", { wwn: "0x5000C500A1B2C3D4" }, "/dev/sda"],
  ["the first half of a name of 16", { wwn: "0x6b8ca3a0f5c1d800" }, "/dev/sdb"],
  ["the whole of it, which HardwareData shows", { wwn: "0x6b8ca3a0f5c1d80029e1a3f4f0b1c2d3" }, "/dev/sdb"],
  ["the whole of it by its own hint", { wwnWithExtension: "0x6b8ca3a0f5c1d80029e1a3f4f0b1c2d3" }, "/dev/sdb"],
  ["the second half of it", { wwnVendorExtension: "0x29e1a3f4f0b1c2d3" }, "/dev/sdb"],
  ["NVMe's name", { wwn: "eui.0025385b01" }, "/dev/nvme0n1"],
  ["several, all of which must hold", { rotational: true, minSizeGigabytes: 400, vendor: "DELL" }, "/dev/sdb"],
  ["the first in the agent's order of several that match", { minSizeGigabytes: 400 }, "/dev/sda"],
];
for (const [what, hints, name] of rules)
  test(`N28 hint: ${what}`, () => assert.equal(chosen(hints, [...DISKS, DECOY]), name));

test("a serial number, an address or a name must be the whole", () => {
  for (const hints of [{ serialNumber: "S" }, { hctl: "1:2:0" }, { deviceName: "/dev/nvme0n" }, { wwn: "0x5000" }])
    assert.throws(() => chosen(hints), Fault);
});

test("sizes are gibibytes, and exactly as large is large enough", () => {
  const one = [disk({ bytes: 100 * GIB })];
  assert.equal(chosen({ minSizeGigabytes: 100 }, one), "/dev/sda");
  assert.throws(() => chosen({ minSizeGigabytes: 100 }, [disk({ bytes: 100 * GIB - 1 })]), Fault);
});

test("N28 without hints it is the smallest disk of at least 4 GiB, NVMe included, and the first by name of several", () => {
  assert.equal(chosen(undefined), "/dev/sdb");
  assert.equal(chosen({}, [SATA, NVME]), "/dev/nvme0n1");
  const small = disk({ name: "/dev/sdc", bytes: 4 * GIB - 1 });
  const least = disk({ name: "/dev/sdd", bytes: 4 * GIB });
  assert.equal(chosen(undefined, [NVME, small, least]), "/dev/sdd");
  assert.equal(chosen(undefined, [disk({ name: "/dev/sdb" }), disk({ name: "/dev/sda" })]), "/dev/sda");
});

test("hints that say nothing are none", () => {
  assert.equal(chosen({ deviceName: "", minSizeGigabytes: 0, model: " " }), "/dev/sdb");
});

test("a read-only disk is never taken", () => {
  assert.equal(chosen(undefined, [disk({ readOnly: true }), NVME]), "/dev/nvme0n1");
  assert.throws(() => chosen({ deviceName: "/dev/sda" }, [disk({ readOnly: true })]), /\/dev\/sda: it is read-only/);
});

test("the disk is named by its stablest name", () => {
  const { target, path } = rootDevice(DISKS, { vendor: "ATA" });
  assert.deepEqual([target, path], ["ata-ST4000_Z1", "/dev/disk/by-id/ata-ST4000_Z1"]);
  const byPath = rootDevice([disk({ byPath: "pci-0000:00:04.0" })], undefined);
  assert.deepEqual([byPath.target, byPath.path], ["/dev/sda", "/dev/disk/by-path/pci-0000:00:04.0"]);
  assert.equal(rootDevice([disk({})], undefined).path, "/dev/sda");
});

test("N28 where none is left, each disk is listed with what speaks against it", () => {
  assert.throws(() => chosen({ vendor: "DELL", minSizeGigabytes: 1000 }), {
    message:
      'rootDeviceHints: no disk to install to: /dev/sda: vendor is "ATA", wanted "DELL"; ' +
      '/dev/sdb: minSizeGigabytes is "447", wanted "1000"; /dev/nvme0n1: vendor is not known, wanted "DELL"',
    code: "Invalid",
    remedy: "correct spec.rootDeviceHints",
  });
  assert.throws(() => chosen(undefined, [disk({ bytes: 2 * GIB })]), {
    message: "rootDeviceHints: no disk to install to: /dev/sda: it has 2 GiB of the 4 needed",
    remedy: "choose a disk with spec.rootDeviceHints, or add a larger one",
  });
  assert.throws(() => chosen(undefined, []), /the host has no disk/);
});

test("the list of many disks stays short", () => {
  const many = Array.from({ length: 200 }, (_, at) => disk({ name: `/dev/sd${at}`, bytes: 1 }));
  assert.throws(
    () => chosen(undefined, many),
    (error: Fault) => error.message.length < 1500 && error.message.endsWith("and 184 more"),
  );
});

test("a disk is chosen exactly when one matches, and then it is one of those given", () => {
  const disks = fc.array(
    fc.record({
      name: fc.constantFrom("/dev/sda", "/dev/sdb", "/dev/nvme0n1"),
      bytes: fc.integer({ min: 0, max: 8 * GIB }),
    }),
  );
  fc.assert(
    fc.property(disks, fc.integer({ min: 0, max: 8 }), (some, least) => {
      const all = some.map((fields) => disk(fields));
      const needed = least === 0 ? 4 : least;
      const fits = all.filter(({ bytes }) => bytes >= needed * GIB);
      if (fits.length === 0) assert.throws(() => rootDevice(all, { minSizeGigabytes: least }), Fault);
      else assert.ok(fits.includes(rootDevice(all, { minSizeGigabytes: least }).disk));
    }),
  );
});
