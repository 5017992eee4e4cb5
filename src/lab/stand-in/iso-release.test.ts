import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { artifactsOf } from "../../bootstrap/harvester/version.ts";
import { directory, type HandRecord, handMade } from "../../netboot/iso/testing.ts";
import { isoRelease } from "./iso-release.ts";

const scratch = mkdtempSync(join(tmpdir(), "slipway-release-"));
after(() => rmSync(scratch, { recursive: true }));
const ASKER = { address: "10.77.0.50" };
const SECTOR = 2048;

/** An image with what Harvester's has where Harvester's has it. */
async function image(name: string, inBoot: readonly string[] = ["kernel", "initrd"]): Promise<string> {
  const contents: Record<number, Uint8Array> = {};
  const place = (file: string, block: number): HandRecord => {
    contents[block] = Buffer.from(`the ${file}`);
    return { name: file, block, size: contents[block].length };
  };
  contents[20] = directory(inBoot.map((file, at) => place(file, 21 + at)));
  const root = [{ name: "boot", block: 20, size: SECTOR, directory: true }, place("rootfs.squashfs", 30)];
  const made = handMade(root, contents);
  const file = join(scratch, name);
  writeFileSync(file, await made.read(0, made.size));
  return file;
}

test("every part of a release is served out of its ISO, by the name that the boot script asks for", async () => {
  const { files, iso, version } = await isoRelease(await image("harvester-v1.8.1-amd64.iso"));
  assert.deepEqual([iso, version], ["harvester-v1.8.1-amd64.iso", "v1.8.1"]);
  const artifacts = artifactsOf({ isoUrl: `http://10.77.0.1/release/${iso}` });
  for (const [url, text] of [
    [artifacts.kernel, "the kernel"],
    [artifacts.initrd, "the initrd"],
    [artifacts.rootfs, "the rootfs.squashfs"],
  ] as const) {
    const file = await files.open(url.slice(url.lastIndexOf("/") + 1), ASKER);
    assert.equal(Buffer.from((await file?.read(0, file.size)) ?? []).toString(), text);
    await file?.close();
  }
  const whole = await files.open(iso, ASKER);
  assert.equal(whole?.size, 64 * SECTOR);
  await whole?.close();
  assert.equal(await files.open("boot/kernel", ASKER), undefined);
});

test("an image of another name, one that is not there, and one that lacks a part are refused with the reason", async () => {
  await assert.rejects(isoRelease(await image("debian.iso")), /not named harvester-<version>-amd64\.iso/);
  await assert.rejects(isoRelease(join(scratch, "harvester-v9.9.9-amd64.iso")), /harvester-v9\.9\.9-amd64\.iso/);
  const bare = await image("harvester-v1.7.0-amd64.iso", ["kernel"]);
  await assert.rejects(isoRelease(bare), /there is no boot\/initrd in it/);
});
