/** The node image as a disk, made of small files: same bytes each time, and a table that sgdisk finds nothing wrong with. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeDisk } from "../../tools/node-image/disk.ts";

const NEEDED = [
  "/usr/sbin/sgdisk",
  "/usr/sbin/mkfs.vfat",
  "/usr/bin/mcopy",
  "/usr/bin/syslinux",
  "/usr/bin/zstd",
  "/usr/bin/dpkg-deb",
];
const missing = NEEDED.filter((program) => !existsSync(program));
const skip = missing.length > 0 && `not installed: ${missing.join(", ")}`;
const DISK = { architecture: "amd64", name: "disk.img.zst", layers: ["cloud-init.squashfs"], say: () => {} } as const;
const folder = mkdtempSync(join(tmpdir(), "slipway-node-disk-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the same files make the same disk, whenever it is made", { skip }, () => {
  for (const name of ["vmlinuz", "initrd.disk"])
    writeFileSync(
      join(folder, name),
      `${name}
`,
    );
  writeFileSync(join(folder, "cloud-init.squashfs"), "a layer");
  // FAT32 begins at 33 MB.
  writeFileSync(join(folder, "root.squashfs"), Buffer.alloc(32_000_000, "files"));
  const loaders = [deb("usr/lib/shim/shimx64.efi.signed"), deb("usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed")];
  const made = (): string => {
    writeDisk(folder, { ...DISK, loaders, work: join(folder, "work") });
    return createHash("sha256")
      .update(readFileSync(join(folder, "disk.img.zst")))
      .digest("hex");
  };
  const first = made();
  assert.equal(made(), first);

  command("zstd", "-q", "-d", "-f", join(folder, "disk.img.zst"), "-o", join(folder, "disk.img"));
  assert.match(command("/usr/sbin/sgdisk", "--verify", join(folder, "disk.img")), /No problems found/);
  const listed = command("mdir", "-i", `${join(folder, "disk.img")}@@1M`, "-/", "-b", "::");
  for (const name of [
    "vmlinuz",
    "initrd",
    "root.squashfs",
    "cloud-init.squashfs",
    "syslinux.cfg",
    "EFI/BOOT/BOOTX64.EFI",
    "EFI/debian/grub.cfg",
  ])
    assert.ok(listed.split("\n").includes(`::/${name}`), `${name} is not among\n${listed}`);

  const dates = command("mdir", "-i", `${join(folder, "disk.img")}@@1M`, "-/", "-a", "::").match(/\d{4}-\d\d-\d\d/g);
  assert.deepEqual([...new Set(dates)], ["1980-01-01"]);

  writeFileSync(join(folder, "vmlinuz"), "another kernel");
  assert.notEqual(made(), first);
});

/** A Debian package that holds this one file. */
function deb(path: string): string {
  const tree = mkdtempSync(join(folder, "deb-"));
  mkdirSync(join(tree, "DEBIAN"));
  mkdirSync(join(tree, path, ".."), { recursive: true });
  writeFileSync(
    join(tree, "DEBIAN/control"),
    "Package: loader\nVersion: 1\nArchitecture: amd64\nMaintainer: none <n@example.org>\nDescription: one file\n",
  );
  writeFileSync(join(tree, path), `${path}\n`);
  command("dpkg-deb", "--build", tree, `${tree}.deb`);
  return `${tree}.deb`;
}

function command(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
