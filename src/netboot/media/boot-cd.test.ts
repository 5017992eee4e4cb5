import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { fileOf } from "../files/memory.ts";
import { isoFiles } from "../iso/files.ts";
import { type BootCd, bootCd } from "./boot-cd.ts";

const BOOT = Buffer.alloc(5_000, 7);
const CD: BootCd = {
  label: "SLIPWAY",
  folder: "GRUB",
  files: { "GRUB.CFG": Buffer.from("echo\n"), "A.TXT": Buffer.alloc(3_000, 1) },
  bootImage: Buffer.concat([BOOT, Buffer.alloc(120)]),
};

test("its files are found as in any image", async () => {
  const files = isoFiles(async () => fileOf(bootCd(CD)));
  for (const [name, bytes] of Object.entries(CD.files)) {
    const file = await files.open(`grub/${name.toLowerCase()}`, { address: "" });
    assert.ok(file !== undefined, name);
    assert.ok(Buffer.from(await file.read(0, file.size)).equals(bytes), name);
  }
});

test("firmware finds the boot image by the catalog, whose words add up to zero", () => {
  const image = bootCd(CD);
  assert.equal(image.length % 2048, 0);
  const record = image.subarray(17 * 2048);
  assert.equal(record.toString("latin1", 0, 30), "\0CD001\x01EL TORITO SPECIFICATION");
  const catalog = image.subarray(record.readUInt32LE(71) * 2048);
  let sum = 0;
  for (let at = 0; at < 32; at += 2) sum += catalog.readUInt16LE(at);
  assert.equal(sum & 0xffff, 0);
  assert.deepEqual([catalog[0], catalog[1], catalog[32], catalog[33]], [1, 0xef, 0x88, 0]);
  const at = catalog.readUInt32LE(40) * 2048;
  assert.ok(image.subarray(at, at + catalog.readUInt16LE(38) * 512).equals(CD.bootImage));
});

const noXorriso = spawnSync("xorriso", ["-version"]).error === undefined ? false : "not installed: xorriso";

test("xorriso reads it, with its boot image for UEFI, and finds nothing to warn of", { skip: noXorriso }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-cd-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [file, out] = [join(folder, "cd.iso"), join(folder, "out.txt")];
  writeFileSync(file, bootCd(CD));
  const script = ["-indev", file, "-report_el_torito", "plain", "-osirrox", "on", "-extract", "/GRUB/A.TXT", out];
  const { stdout, stderr, status } = spawnSync("xorriso", script, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /El Torito boot img :\s+1\s+UEFI\s+y\s+none/);
  assert.doesNotMatch(stderr, /WARNING|FAILURE|SORRY/);
  assert.ok(readFileSync(out).equals(CD.files["A.TXT"]!));
});

test("names that are none, and a boot image that no catalog can name, are refused", () => {
  const refused = (change: Partial<BootCd>, why: RegExp): void =>
    assert.throws(
      () => bootCd({ ...CD, ...change }),
      (error) => isFault(error, "Invalid") && why.test(error.message),
    );
  refused({ folder: "grub" }, /no name/);
  refused({ files: { "TOO.LONG": BOOT } }, /no name/);
  refused({ label: "two words" }, /no label/);
  refused({ bootImage: Buffer.alloc(34_000_000) }, /too large/);
});

test("each entry of a folder has an even length, and its name in it", () => {
  const image = bootCd(CD);
  const root = image.subarray(16 * 2048 + 156);
  const entriesAt = (sector: number): [length: number, name: string, at: number][] => {
    const found: [number, string, number][] = [];
    for (let at = sector * 2048; image[at] !== 0; at += image[at]!)
      found.push([
        image[at]!,
        image.toString("latin1", at + 33, at + 33 + image[at + 32]!),
        image.readUInt32LE(at + 2),
      ]);
    return found;
  };
  const top = entriesAt(root.readUInt32LE(2));
  const folder = entriesAt(top.find(([, name]) => name === "GRUB")![2]);
  const lengths = [...top, ...folder].map(([length, name]) => [name, length]);
  assert.deepEqual(lengths, [
    ["\0", 34],
    ["\u0001", 34],
    ["GRUB", 38],
    ["\0", 34],
    ["\u0001", 34],
    ...folder.slice(2).map(([, name]) => [name, 33 + name.length + ((name.length + 1) % 2)]),
  ]);
  assert.ok([...top, ...folder].every(([length]) => length % 2 === 0));
  assert.equal(folder.length, 4);
});
