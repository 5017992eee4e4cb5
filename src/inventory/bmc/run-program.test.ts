import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { runProgram } from "./run-program.ts";

const sh = (script: string, more: { env?: Record<string, string>; signal?: AbortSignal } = {}) =>
  runProgram({ program: "sh", args: ["-c", script], env: {}, ...more });

test("a program's end and both of its outputs are kept apart, its input is empty, its environment is ours and more", async () => {
  const ran = await sh('cat; echo "$OURS-${HOME:+home}"; echo wrong >&2; exit 3', { env: { OURS: "a b" } });
  assert.deepEqual(ran, { code: 3, stdout: "a b-home\n", stderr: "wrong\n" });
  assert.equal((await sh("kill -9 $$")).code, 1, "killed is failed");
});

test("no more than 256 KiB of an output is kept", async () => {
  const { stdout, code } = await sh("head -c 300000 /dev/zero | tr '\\0' x");
  assert.deepEqual([stdout.length, code], [256 * 1024, 0]);
});

test("a program ends with its signal, and one that is not installed says how it is had", async () => {
  const caller = new AbortController();
  const ran = sh("exec sleep 60", { signal: caller.signal });
  caller.abort(new Error("given up"));
  await assert.rejects(ran, /given up/);
  await assert.rejects(runProgram({ program: "no-such-program", args: [], env: {} }), (error) => {
    assert.ok(isFault(error, "Unsupported"));
    return /install the package no-such-program/.test(error.advice);
  });
  await assert.rejects(runProgram({ program: "/etc/passwd", args: [], env: {} }), /EACCES/);
});
