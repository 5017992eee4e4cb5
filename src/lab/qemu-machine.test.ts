/** Machines switched on and off, with a program in QEMU's place that speaks its protocol. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { FIRMWARE_FILES } from "./firmware-files.ts";
import { labMac, labUuid } from "./machine.ts";
import { QemuMachine } from "./qemu-machine.ts";
import { putQemu, QEMU } from "./testing.ts";

const { PATH } = process.env;

const skip = spawnSync("setpriv", ["--version"]).status === 0 ? false : "no setpriv: apt-get install util-linux";

/** Files of a folder that this process has open; none where the system does not say. */
function openBelow(folder: string): string[] {
  const descriptors = "/proc/self/fd";
  if (!existsSync(descriptors)) return [];
  return readdirSync(descriptors).flatMap((fd) => {
    try {
      const path = readlinkSync(join(descriptors, fd));
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** A machine whose QEMU is this program for Node. */
async function machine(t: TestContext, qemu: string): Promise<{ machine: QemuMachine; disk: string }> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  putQemu(folder, qemu);
  process.env.PATH = `${folder}:${PATH}`;
  const disk = join(folder, "disk.raw");
  writeFileSync(disk, "");
  const spec = { name: "lab-1", firmware: "bios", memoryMiB: 1, mac: labMac(1), uuid: labUuid(1) } as const;
  const made = await QemuMachine.create(
    { ...spec, disks: [{ file: disk, bus: "virtio", serial: "1" }] },
    { tap: "tap-1", folder },
  );
  t.after(async () => {
    await made.close();
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  return { machine: made, disk };
}

test("a machine is on from the switch to the plug, shows what it says, and is reset by order", { skip }, async (t) => {
  const { machine: one, disk } = await machine(t, QEMU);
  const { signal } = new AbortController();
  assert.equal(one.on, false);
  await assert.rejects(one.reset(), (error) => isFault(error, "Unavailable") && /it is off/.test(error.message));
  await one.powerOn();
  await one.powerOn();
  assert.equal(one.on, true);
  await one.console.shows(/up: lab-1/, signal);
  await one.reset();
  await one.console.shows(/ordered system_reset/, signal);

  const off = one.off();
  await one.powerOff();
  await off;
  assert.equal(one.on, false);
  await one.powerOff();
  await one.powerOn();
  assert.equal(one.on, true);
  await one.console.shows(/up: lab-1[\s\S]*up: lab-1/, signal);
  await one.close();
  assert.equal(one.on, false);
  assert.deepEqual(openBelow(dirname(disk)), []);
  assert.equal(readFileSync(one.console.file, "latin1").match(/up: lab-1/g)?.length, 2);
  await one.discard();
  assert.equal(existsSync(disk), false);
});

test("a boot device and a CD are given to a machine that is on at once, and to one that is off with its start", {
  skip,
}, async (t) => {
  const { machine: one, disk } = await machine(t, `${QEMU}\nprocess.stdout.write(process.argv.join(" ") + "\\n");`);
  const { signal } = new AbortController();
  const starts: number[] = [];
  one.onStart(() => starts.push(1));
  await assert.rejects(one.pressPower(), (error) => isFault(error, "Unavailable"));
  await one.bootFirst("disk");
  await one.insert("/lab/first.iso");
  await one.powerOn();
  assert.equal(starts.length, 1);
  await one.console.shows(/id=disk0-device,bootindex=1 .*readonly=on,file=\/lab\/first\.iso/, signal);
  await one.bootFirst("cd");
  const change = (id: string, value: number): string =>
    `ordered qom-set {"path":"/machine/peripheral/${id}","property":"bootindex","value":${value}}`;
  await one.console.shows(new RegExp(`${change("disk0-device", 20)}\n${change("cd0", 1)}`), signal);
  await one.insert("/lab/second.iso");
  await one.console.shows(/blockdev-change-medium \{"id":"cd0","filename":"\/lab\/second\.iso"/, signal);
  await one.insert(undefined);
  await one.console.shows(/eject \{"id":"cd0","force":true\}/, signal);
  await one.pressPower();
  await one.console.shows(/system_powerdown/, signal);
  await one.reset();
  assert.equal(starts.length, 2);
  await one.powerOff();
  await one.bootFirst(undefined);
  assert.equal(existsSync(disk), true);
});

test("a machine that is switched on twice starts once, and one that is switched off while it starts is off", {
  skip,
}, async (t) => {
  const { machine: one } = await machine(t, QEMU);
  await Promise.all([one.powerOn(), one.powerOn()]);
  await one.console.shows(/up: lab-1/, new AbortController().signal);
  await one.powerOff();
  const starting = one.powerOn();
  await one.powerOff();
  assert.equal(one.on, false);
  await starting;
  await one.console.shows(/up: lab-1[\s\S]*up: lab-1/, new AbortController().signal);
  await one.close();
  assert.equal(readFileSync(one.console.file, "latin1").match(/up: lab-1/g)?.length, 2);
});

test("a machine that is switched off for good stays off, whoever restarts it", { skip }, async (t) => {
  const { machine: one } = await machine(t, QEMU);
  await one.powerOn();
  const restarted = assert.rejects(
    one.powerOff().then(() => one.powerOn()),
    (error) => isFault(error, "Unavailable") && /off for good/.test(error.message),
  );
  await one.close();
  await restarted;
  assert.equal(one.on, false);
});

test("a machine that does not start is off, and says what QEMU said", { skip }, async (t) => {
  const { machine: one } = await machine(t, 'process.stderr.write("no such device: tap-1\\n"); process.exit(1);');
  await assert.rejects(
    one.powerOn(),
    (error) => isFault(error, "Unavailable") && /no such device: tap-1$/.test(error.message),
  );
  assert.equal(one.on, false);
});

test("a machine that ends by itself is off", { skip }, async (t) => {
  const { machine: one } = await machine(
    t,
    `${QEMU}\norders.on("data", (text) => /reset/.test(text) && process.exit(0));`,
  );
  await one.powerOn();
  await one.reset().catch(() => {});
  await one.off();
  assert.equal(one.on, false);
});

test("a machine's firmware keeps its variables from one life to the next, until they are thrown away", async (t) => {
  const { variables } = FIRMWARE_FILES.uefi.flash!;
  if (!existsSync(variables)) return t.skip("no OVMF: apt-get install ovmf");
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const spec = { name: "lab-1", firmware: "uefi", memoryMiB: 1, mac: labMac(1), uuid: labUuid(1), disks: [] } as const;
  const own = join(folder, "variables.fd");
  const first = await QemuMachine.create(spec, { tap: "tap-1", folder });
  assert.deepEqual(readFileSync(own), readFileSync(variables));
  writeFileSync(own, "changed by its firmware");
  const second = await QemuMachine.create(spec, { tap: "tap-1", folder });
  assert.equal(readFileSync(own, "utf8"), "changed by its firmware");
  await second.discard();
  assert.equal(existsSync(own), false);
  for (const machine of [first, second]) await machine.close();
  const nowhere = QemuMachine.create(spec, { tap: "tap-1", folder: join(folder, "nowhere") });
  await assert.rejects(nowhere, { code: "ENOENT" });
});
