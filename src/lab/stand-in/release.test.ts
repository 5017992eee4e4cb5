import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { artifactsOf } from "../../bootstrap/harvester/version.ts";
import { releaseNames, STAND_IN_VERSION, standInRelease } from "./release.ts";

const scratch = mkdtempSync(join(tmpdir(), "slipway-stand-in-"));
after(() => rmSync(scratch, { recursive: true }));
const ASKER = { address: "10.77.0.50" };
const NAMES = [
  "agent/x86_64/vmlinuz",
  "agent/x86_64/initrd",
  "agent/x86_64/rest",
  "boot/shimx64.efi",
  "boot/grubx64.efi",
];

function assets(names: readonly string[] = NAMES): string {
  const folder = mkdtempSync(join(scratch, "assets-"));
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `<${name}>`);
  }
  return folder;
}

async function contents(files: Awaited<ReturnType<typeof standInRelease>>, name: string): Promise<Buffer> {
  const file = await files.open(name, ASKER);
  assert.ok(file, name);
  const bytes = Buffer.from(await file.read(0, file.size));
  await file.close();
  return bytes;
}

test("a release's files have the names that boot scripts ask for, whatever the release", () => {
  const artifacts = artifactsOf({ isoUrl: "http://a/harvester-v1.8.1-amd64.iso" });
  const urls = [artifacts.iso, artifacts.kernel, artifacts.initrd, artifacts.rootfs];
  assert.deepEqual(
    urls.map((url) => url.slice("http://a/".length)),
    Object.values(releaseNames("v1.8.1")),
  );
});

test("the stand-in's initramfs is the agent's with its own program behind, which knows its desk", async () => {
  const files = await standInRelease(assets(), scratch, "http://10.77.0.1:8091/stand-in/plan");
  const initrd = await contents(files, releaseNames(STAND_IN_VERSION).initrd);
  const agents = "<agent/x86_64/initrd>";
  assert.equal(initrd.subarray(0, agents.length).toString(), agents);
  const archive = zstdDecompressSync(initrd.subarray(agents.length)).toString("latin1");
  for (const text of [
    "stand-in/installer.sh\0",
    "stand-in/system.sh\0",
    "init\0",
    "http://10.77.0.1:8091/stand-in/plan\n",
  ])
    assert.ok(archive.includes(text), text);
});

const cpio = spawnSync("cpio", ["--version"]).status === 0;
test("what stands for the ISO has all that a disk starts from", { skip: !cpio && "not installed: cpio" }, async () => {
  const files = await standInRelease(assets(), scratch, "http://desk");
  const input = await contents(files, releaseNames(STAND_IN_VERSION).iso);
  const listed = spawnSync("cpio", ["--list", "--quiet"], { input, encoding: "utf8" });
  const names = ["EFI", "EFI/BOOT", "EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/grubx64.efi", "initrd", "rest", "vmlinuz"];
  assert.deepEqual(listed.stdout.trim().split("\n"), names);
});

test("assets that are not there are named, with what makes them", async () => {
  const missing = standInRelease(assets(NAMES.slice(0, 2)), scratch, "http://desk");
  await assert.rejects(missing, (error: { message: string; remedy?: string }) => {
    assert.match(error.message, /agent\/x86_64\/rest|boot\/shimx64\.efi/);
    return error.remedy === "make agent";
  });
});
