import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { reportCommand, runAndReport, shellCommand, shellWord } from "./shell.ts";
import { hostile } from "./testing.ts";

const sh = (script: string): { status: number | null; stdout: string } =>
  spawnSync("sh", ["-c", script], { encoding: "utf8" });

test("a shell reads each word back as it was, and does nothing that it says", () => {
  const words = fc.sample(hostile, { numRuns: 1000, seed: 1 }).filter((text) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text));
  assert.ok(words.length > 200);
  assert.equal(sh(shellCommand("printf", "%s\\n", ...words)).stdout, `${words.join("\n")}\n`);
});

test("a word with control characters is refused", () => {
  for (const text of ["a\nb", "a\0", "\t", "\u2028", "\u0085", "\u009b"])
    assert.throws(() => shellWord(text), /control/);
});

/** Stands for curl and wget, and prints which URL it was given. */
const CALLS = `curl() { for last; do :; done; echo "called $last"; };`;
const REPORT = { succeeded: "http://s/ok", failed: "http://s/bad" };

const ended = (script: string): [string, number | null] => {
  const { stdout, status } = sh(`${CALLS} ${script}`);
  return [stdout, status];
};

test("the end of the steps is reported to one URL or the other, and is the line's status", () => {
  assert.deepEqual(ended(runAndReport(["true", "echo b"], REPORT)), ["b\ncalled http://s/ok\n", 0]);
  assert.deepEqual(ended(runAndReport(["false", "echo b"], REPORT)), ["called http://s/bad\n", 1]);
  assert.deepEqual(ended(runAndReport(["false"], { succeeded: REPORT.succeeded })), ["", 1]);
  assert.deepEqual(ended(runAndReport(["echo a", "false"], undefined)), ["a\n", 1]);
  assert.deepEqual(ended(runAndReport([], undefined)), ["", 0]);
});

test("a report is made by wget where there is no curl, tried again while it fails, and never fails itself", () => {
  const wget = `curl() { return 127; }; wget() { for last; do :; done; echo "wget $last"; };`;
  assert.deepEqual(ended(`${wget} ${reportCommand("http://s/ok")}`), ["wget http://s/ok\n", 0]);
  const never = "curl() { return 7; }; wget() { return 4; }; sleep() { echo pause; };";
  assert.deepEqual(ended(`${never} ${reportCommand("http://s/ok")}`), ["pause\n".repeat(5), 0]);
});
