import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { checkInstalled, missingPackages } from "./programs.ts";
import { putQemu } from "./testing.ts";

test("what is missing is named by its Debian package, and the remedy installs it", async () => {
  await assert.rejects(checkInstalled(["arm64"], "/nowhere"), (error) => {
    assert.ok(error instanceof Fault);
    assert.match(error.message, /qemu-system-arm/);
    assert.match(error.remedy!, /^apt-get install .*qemu-system-arm/);
    return true;
  });
});

test("one missing package is, several are", async () => {
  const said = async (...firmwares: Parameters<typeof checkInstalled>[0][]): Promise<string> =>
    checkInstalled(
      firmwares.flatMap((each) => [...each]),
      "/nowhere",
    ).then(
      () => "",
      (error: Fault) => error.message,
    );
  for (const message of [await said(["bios"]), await said(["bios", "arm64"])]) {
    const [, packages, verb] = /^lab: (.*) (is|are) not installed$/.exec(message)!;
    assert.equal(verb, packages!.includes(",") ? "are" : "is");
  }
});

test("only what the wanted firmwares need is asked for", async () => {
  const missing = await missingPackages(["bios"], "/nowhere");
  assert.ok(missing.includes("qemu-system-x86"));
  assert.ok(!missing.includes("ovmf"));
  assert.ok(!missing.includes("qemu-system-arm"));
  assert.ok(!missing.includes("swtpm"));
  assert.ok((await missingPackages(["bios"], "/nowhere", { hasTpms: true })).includes("swtpm"));
});

test("a program that a folder of the path has is not missing, unless it may not be run", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(folder, { recursive: true }));
  putQemu(folder, "");
  const isMissing = async (path: string): Promise<boolean> =>
    (await missingPackages(["bios"], path)).includes("qemu-system-x86");
  assert.deepEqual([await isMissing(folder), await isMissing(`/nowhere:${folder}`)], [false, false]);
  chmodSync(join(folder, "qemu-system-x86_64"), 0o600);
  assert.equal(await isMissing(folder), true);
});
