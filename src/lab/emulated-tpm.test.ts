import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isFault } from "@slipway/base";
import { startTpm } from "./emulated-tpm.ts";

const skip = spawnSync("swtpm", ["--version"]).error === undefined ? false : "not installed: swtpm";

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("a TPM is there when QEMU may connect, is its owner's alone, and is stopped when QEMU never comes", {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, "tpm");
  const tpm = await startTpm(own);
  assert.ok(statSync(tpm.socket).isSocket());
  assert.equal(statSync(own).mode & 0o777, 0o700);
  const pid = Number(readFileSync(join(own, "pid"), "utf8"));
  assert.ok(isRunning(pid));
  await tpm.stop();
  while (isRunning(pid)) await pause(20);
});

test("a machine that is switched on again at once has a TPM, however slowly the last one ends", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const own = join(folder, "tpm");
  const last = await startTpm(own);
  const pid = Number(readFileSync(join(own, "pid"), "utf8"));
  process.kill(pid, "SIGSTOP");
  await last.stop();
  const next = startTpm(own);
  await pause(300);
  process.kill(pid, "SIGCONT");
  const tpm = await next;
  while (isRunning(pid)) await pause(20);
  assert.ok(statSync(tpm.socket).isSocket());
  await tpm.stop();
});

test("a folder that swtpm can't use is a fault that says what swtpm says", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "slipway-lab-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const tooLong = join(folder, "x".repeat(200));
  await assert.rejects(startTpm(tooLong), (error) => isFault(error, "Unavailable") && /swtpm: \S/.test(error.message));
});
