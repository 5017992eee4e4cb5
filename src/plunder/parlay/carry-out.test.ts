import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, type Fault } from "@slipway/base";
import { type Ended, runChild } from "../ssh/child.ts";
import type { Run, Shell } from "../ssh/shell.ts";
import type { Action } from "./action.ts";
import { carryOut } from "./carry-out.ts";
import { wholeMachine } from "./here.ts";
import { Values } from "./values.ts";

const signal = new AbortController().signal;
const COMMON = { name: "a", ignoreFail: false, timeoutMs: 60_000 };
const ENDED: Ended = { code: 0, output: "", errors: "", isCut: false };

/** A machine whose shell is this machine's, or one that ends every command so. */
function world(t: TestContext, ended?: (how: Run) => Promise<Partial<Ended>>) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-carry-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const values = new Values();
  const here = wholeMachine(clock);
  const shell: Shell = {
    async run(command, how) {
      if (ended !== undefined) return { ...ENDED, ...(await ended(how)) };
      const { input, output, timeoutMs } = how;
      const streams = { ...(input && { input }), ...(output && { output }) };
      return runChild(clock, "h", { command: "sh", args: ["-c", command], timeoutMs, mostBytes: 1024, ...streams });
    },
    close: async () => {},
  };
  const at = { host: "h", shell, here, values, signal };
  const run = (action: object) => carryOut({ ...COMMON, ...action } as Action, at);
  const path = (name: string) => join(folder, name);
  return { at, run, path, values, files: () => readdirSync(folder).toSorted() };
}
const command = (text: string, more: object = {}) => ({ do: "command", command: { is: "text", text }, ...more });

test("N31 a download that fails leaves no part of a file, and what was there stays", async (t) => {
  const { run, path, files } = world(t);
  writeFileSync(path("out"), "as it was");
  await assert.rejects(run({ do: "download", source: path("absent"), destination: path("out") }), {
    code: "Refused",
    message: /^h: ended with 1: .*absent/,
  });
  assert.deepEqual(files(), ["out"]);
  assert.equal(readFileSync(path("out"), "utf8"), "as it was");
  assert.equal(await run({ do: "download", source: path("out"), destination: path("copy") }), "whole");
  assert.equal(readFileSync(path("copy"), "utf8"), "as it was");
});

test("N31 a file is uploaded as a whole with its permissions; one that came in part takes the place of none", async (t) => {
  const { at, run, path, files } = world(t);
  writeFileSync(path("in"), "12345", { mode: 0o640 });
  const upload = { do: "upload", source: path("in"), destination: path("out") };
  assert.equal(await run(upload), "5 bytes");
  assert.equal(readFileSync(path("out"), "utf8"), "12345");
  const { mode } = await at.here.read(path("out")).then((file) => {
    file.bytes.destroy();
    return file;
  });
  assert.equal(mode.toString(8), "640");
  const here = { ...at.here, read: async (name: string) => ({ ...(await at.here.read(name)), size: 9 }) };
  await assert.rejects(carryOut({ ...COMMON, ...upload, destination: path("part") } as Action, { ...at, here }), {
    message: /the file came in part/,
  });
  assert.deepEqual(files(), ["in", "out"]);
});

test("N31 a command that fails is told with its code and its errors, or else with what it printed", async (t) => {
  const { run, path, files } = world(t);
  const told = async (text: string): Promise<string> => {
    const fault = await run(command(text, { saveFile: path("saved") })).then(
      () => assert.fail("it did not fail"),
      (error: Fault) => error,
    );
    return fault.message;
  };
  assert.match(await told("echo out; echo err >&2; exit 3"), /h: ended with 3: err$/);
  assert.match(await told("echo out; exit 4"), /h: ended with 4: out$/);
  assert.match(await told("exit 5"), /h: ended with 5$/);
  assert.deepEqual(files(), [], "nothing is saved of it");
});

test("N31 what is saved under a name is not told, and can be run and read", async (t) => {
  const { run, path, values } = world(t);
  assert.equal(await run(command("printf 'echo geheim'", { saveAsKey: "token" })), "saved as token");
  assert.equal(values.get("token"), "echo geheim");
  assert.equal(await run({ do: "command", command: { is: "saved", key: "token" } }), "geheim\n");
  assert.equal(await run({ do: "key", key: "token" }), "token is there");
  await assert.rejects(run({ do: "key", key: "other" }), { code: "NotFound" });
  writeFileSync(path("value"), "of a file");
  assert.equal(await run({ do: "key", key: "other", file: path("value") }), "other is read");
  assert.equal(values.get("other"), "of a file");
});

test("N31 a value has at most 1 MiB; what was cut is not saved, and is told in part", async (t) => {
  const { run, path, values, files } = world(t, async () => ({ output: "x".repeat(70_000), isCut: true }));
  for (const save of [{ saveAsKey: "k" }, { saveFile: path("f") }])
    await assert.rejects(run(command("x", save)), { code: "TooLarge" });
  assert.deepEqual([values.all(), files()], [{}, []]);
  const told = await run(command("x"));
  assert.equal(told, `${"x".repeat(65_536)}\n(there was more)`);
  writeFileSync(path("big"), Buffer.alloc(2 ** 20 + 1, "x"));
  await assert.rejects(run({ do: "key", key: "k", file: path("big") }), { code: "TooLarge" });
  writeFileSync(path("big"), Buffer.alloc(2 ** 20, "x"));
  await run({ do: "key", key: "k", file: path("big") });
  assert.equal(values.get("k").length, 2 ** 20);
});

test("N31 a command reads a file, or what a command of this machine printed, unless that one fails", async (t) => {
  const { run, path } = world(t);
  writeFileSync(path("in"), "of a file");
  assert.equal(await run(command("cat", { input: { is: "file", path: path("in") } })), "of a file");
  assert.equal(await run(command("cat", { input: { is: "output", command: "echo made" } })), "made\n");
  await assert.rejects(run(command("cat", { input: { is: "output", command: "echo no >&2; exit 3" } })), {
    message: "commandPipeCmd on this machine: ended with 3: no",
  });
  await assert.rejects(run(command("exit 2", { isLocal: true })), { message: "this machine: ended with 2" });
});
