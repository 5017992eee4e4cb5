/** A BMC over a machine whose QEMU is a program that speaks its protocol. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault, plain } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { BootOverride } from "../../bmc-service/machine.ts";
import { FIRMWARE_FILES } from "../firmware-files.ts";
import { FIRMWARES, type Firmware, labMac, labUuid } from "../machine.ts";
import { QemuMachine } from "../qemu-machine.ts";
import { putQemu, QEMU } from "../testing.ts";
import { LabBmc } from "./lab-bmc.ts";

const { PATH } = process.env;
const skip = spawnSync("setpriv", ["--version"]).status === 0 ? false : "no setpriv: apt-get install util-linux";
const { signal } = new AbortController();

/** Ends by itself when its power button is pressed, or does not. */
const ENDS = `${QEMU}\norders.on("data", (text) => /powerdown/.test(text) && process.exit(0));`;

async function world(t: TestContext, { qemu = ENDS, firmware = "bios" }: { qemu?: string; firmware?: Firmware } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  putQemu(folder, qemu);
  process.env.PATH = `${folder}:${PATH}`;
  const spec = { name: "lab-1", firmware, memoryMiB: 512, mac: labMac(1), uuid: labUuid(1) };
  const disks = [{ file: join(folder, "disk.raw"), bus: "virtio", serial: "1" } as const];
  const machine = await QemuMachine.create({ ...spec, disks }, { tap: "tap-1", folder });
  t.after(async () => {
    await machine.close();
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  const clock = new VirtualClock();
  return { machine, clock, folder, bmc: new LabBmc(machine, { folder, clock }) };
}

const once = (target: BootOverride["target"]): BootOverride => ({ enabled: "Once", target, mode: "Legacy" });
const USUAL: BootOverride = { enabled: "Disabled", target: "None", mode: "Legacy" };

test("power is what the machine's process shows, and each reset does what it is called", { skip }, async (t) => {
  const { bmc, machine } = await world(t);
  assert.equal(bmc.power(), "Off");
  await bmc.reset("On");
  assert.equal(bmc.power(), "On");
  await bmc.reset("ForceRestart");
  await machine.console.shows(/ordered system_reset/, signal);
  await bmc.reset("GracefulRestart");
  await machine.console.shows(/ordered system_powerdown[\s\S]*up: lab-1/, signal);
  assert.equal(bmc.power(), "On");
  await bmc.reset("GracefulShutdown");
  assert.deepEqual([bmc.power(), machine.on], ["Off", false]);
  await bmc.reset("GracefulShutdown");
  await bmc.reset("ForceRestart");
  assert.equal(bmc.power(), "On");
  await bmc.reset("ForceOff");
  assert.equal(bmc.power(), "Off");
});

test("a system that does not end by itself is on after five minutes, and the order has failed", { skip }, async (t) => {
  const { bmc, clock, machine } = await world(t, { qemu: QEMU });
  await bmc.reset("On");
  const shutDown = bmc.reset("GracefulShutdown");
  assert.equal(bmc.power(), "PoweringOff");
  const failed = assert.rejects(shutDown, (error) => isFault(error, "Timeout") && /5 minutes/.test(error.message));
  await machine.console.shows(/system_powerdown/, signal);
  await clock.run(5 * 60_000);
  await failed;
  assert.equal(bmc.power(), "On");
});

test("a single boot is over with the next start, also one that the system makes; a lasting one stays", {
  skip,
}, async (t) => {
  const { bmc, machine } = await world(t);
  await bmc.setBoot(once("Pxe"));
  assert.deepEqual(bmc.boot(), once("Pxe"));
  await bmc.reset("On");
  assert.deepEqual(bmc.boot(), USUAL);
  await machine.console.shows(/qom-set .*card0.*"value":10\}/, signal);
  await bmc.setBoot(once("Cd"));
  await machine.console.shows(/qom-set .*cd0.*"value":1\}/, signal);
  await machine.reset();
  assert.deepEqual(bmc.boot(), USUAL);
  const lasting: BootOverride = { ...once("Hdd"), enabled: "Continuous" };
  await bmc.setBoot(lasting);
  await machine.reset();
  assert.deepEqual(bmc.boot(), lasting);
});

test("an image is fetched before it is in the drive, and gone when it is ejected", { skip }, async (t) => {
  const { bmc, machine, folder } = await world(t);
  const web = await serveHttp(async ({ url }) => plain(url.endsWith("/a.iso") ? 200 : 404, "the image"));
  t.after(() => web.close());
  await bmc.reset("On");
  await bmc.setMedia(`${web.url}/a.iso`);
  assert.equal(bmc.media(), `${web.url}/a.iso`);
  assert.equal(readFileSync(join(folder, "cd.iso"), "utf8"), "the image");
  await machine.console.shows(/blockdev-change-medium .*cd\.iso/, signal);
  await assert.rejects(bmc.setMedia(`${web.url}/missing.iso`), (error) => isFault(error, "NotFound"));
  assert.equal(bmc.media(), undefined);
  await bmc.setMedia(`${web.url}/a.iso`);
  await bmc.setMedia(null);
  assert.deepEqual([bmc.media(), existsSync(join(folder, "cd.iso"))], [undefined, false]);
});

test("a firmware's network boot is set in the one way that it knows", { skip }, async (t) => {
  for (const firmware of FIRMWARES.filter((each) => each !== "arm64")) {
    const { bmc } = await world(t, { firmware: firmware === "bios" ? "bios" : firmware }).catch(() => ({
      bmc: undefined,
    }));
    if (bmc === undefined) continue;
    const way = firmware === "uefi-http" ? "UefiHttp" : "Pxe";
    assert.deepEqual(bmc.bootTargets, [way, "Hdd", "Cd"]);
    assert.equal(bmc.takesBootUri, firmware === "uefi-http");
    assert.deepEqual(bmc.bootModes, [firmware === "bios" ? "Legacy" : "UEFI"]);
  }
});

const noFirmware = existsSync(FIRMWARE_FILES["uefi-http"].flash!.variables) ? skip : "not installed: ovmf";

test("a boot URL is among the firmware's variables when the machine is switched on, once; a reset waits for it", {
  skip: noFirmware,
}, async (t) => {
  const { bmc, machine, folder } = await world(t, { firmware: "uefi-http" });
  const inFlash = (text: string): boolean => readFileSync(join(folder, "variables.fd")).includes(text);
  const next = Buffer.from("BootNext\0", "utf16le").toString("latin1");
  const flashSays = (): string => readFileSync(join(folder, "variables.fd"), "latin1");
  assert.equal(bmc.takesBootUri, true);
  const url = (path: string): BootOverride => ({
    ...uefi,
    target: "UefiHttp",
    httpBootUri: `http://10.77.0.1/${path}`,
  });
  await bmc.setBoot(url("one"));
  assert.equal(inFlash("http://10.77.0.1/one"), false);
  await bmc.reset("On");
  assert.deepEqual([inFlash("http://10.77.0.1/one"), flashSays().includes(next)], [true, true]);
  assert.equal(bmc.boot().enabled, "Disabled");

  await bmc.setBoot(url("two"));
  await machine.reset();
  assert.deepEqual([bmc.boot().httpBootUri, inFlash("http://10.77.0.1/two")], ["http://10.77.0.1/two", false]);
  await bmc.reset("ForceRestart");
  assert.deepEqual([bmc.boot().enabled, inFlash("http://10.77.0.1/two")], ["Disabled", true]);

  await bmc.setBoot(url("three"));
  await bmc.setBoot({ ...uefi, enabled: "Disabled", target: "None" });
  await bmc.reset("ForceRestart");
  await bmc.setBoot({ ...url("four"), enabled: "Continuous" });
  for (const _ of [1, 2]) {
    await bmc.reset("ForceOff");
    await bmc.reset("On");
    assert.equal(machine.nextUrl, "http://10.77.0.1/four");
  }
  assert.deepEqual([inFlash("http://10.77.0.1/three"), inFlash("http://10.77.0.1/four")], [false, true]);
});

const uefi: Pick<BootOverride, "enabled" | "mode"> = { enabled: "Once", mode: "UEFI" };
