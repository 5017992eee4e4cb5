/** FAT images, read back by mtools and by dosfstools' checker, where they are installed. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isFault } from "@slipway/base";
import { fatImage } from "./fat.ts";

const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`, MTOOLS_SKIP_CHECK: "1" };
const has = (program: string, option: string): boolean =>
  spawnSync(program, [option], { env: ENV }).error === undefined;

const LARGE = Buffer.from(Array.from({ length: 3_000_001 }, (_, at) => (at * 7) & 0xff));
const FILES = {
  EFI: { BOOT: { "BOOTX64.EFI": LARGE, "GRUBX64.EFI": Buffer.from("grub") } },
  GRUB: { "GRUB.CFG": Buffer.from("echo\n"), EMPTY: new Uint8Array(0) },
};

function written(t: TestContext, image: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-fat-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "image");
  writeFileSync(file, image);
  return file;
}

test("mtools reads every file as it was put in", {
  skip: has("mcopy", "--version") ? false : "not installed: mtools",
}, (t) => {
  const file = written(t, fatImage(FILES));
  const read = (path: string): Buffer =>
    execFileSync("mcopy", ["-i", file, `::${path}`, "-"], { env: ENV, maxBuffer: 1 << 26 });
  assert.ok(read("/EFI/BOOT/BOOTX64.EFI").equals(LARGE));
  assert.equal(read("/efi/boot/grubx64.efi").toString(), "grub");
  assert.equal(read("/GRUB/GRUB.CFG").toString(), "echo\n");
  assert.equal(read("/GRUB/EMPTY").length, 0);
});

test("the checker of FAT finds nothing wrong", {
  skip: has("fsck.vfat", "--help") ? false : "not installed: dosfstools",
}, (t) => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`F${at}`, Buffer.alloc(at * 100, at)]));
  for (const files of [{}, FILES, { MANY: many, LAST: Buffer.from("x") }]) {
    const file = written(t, fatImage(files));
    const { status, stdout } = spawnSync("fsck.vfat", ["-n", file], { env: ENV, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  }
});

test("names that are none, and more than fits, are refused", () => {
  const refused = (files: Parameters<typeof fatImage>[0], why: RegExp): void =>
    assert.throws(
      () => fatImage(files),
      (error) => isFault(error, "Invalid") && why.test(error.message),
    );
  for (const name of ["small", "TOOLONGNAME", "A.LONG", "A B", "", "A.B.C", ".HIDDEN"])
    refused({ [name]: Buffer.from("x") }, /no short name/);
  refused({ LARGE: Buffer.alloc(40_000_000) }, /more than fits/);
});

test("an entry says when the file was made, read and written: the same day, which is one", () => {
  const image = fatImage({ "GRUB.CFG": Buffer.from("echo\n") });
  const entry = image.subarray(image.indexOf("GRUB    CFG"));
  const days = [16, 18, 24].map((at) => entry.readUInt16LE(at));
  assert.deepEqual(days, [days[0], days[0], days[0]]);
  const [month, day] = [(days[0]! >> 5) & 15, days[0]! & 31];
  assert.ok(month >= 1 && month <= 12 && day >= 1, `${month} ${day}`);
});
