/** What is said of a program that isn't there, ends badly, prints too much or takes too long. */
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type ChildRun, runChild } from "./child.ts";

const sh = (script: string, more: Partial<ChildRun> = {}): ChildRun => ({
  ...{ command: "sh", args: ["-c", script], timeoutMs: 60_000, mostBytes: 8 },
  ...more,
});

test("a program that isn't there is to be installed; one that can't be run is another error", async () => {
  await assert.rejects(runChild(clock, "h", { ...sh(""), command: "no-such-program" }), {
    ...{ code: "MissingInput", message: "h: there is no program no-such-program", remedy: "install it" },
  });
  await assert.rejects(runChild(clock, "h", { ...sh(""), command: "/tmp" }), { code: "EACCES" });
});

test("a code is the program's own, or 128 and the signal that ended it", async () => {
  const code = async (script: string) => (await runChild(clock, "h", sh(script))).code;
  assert.deepEqual([await code("exit 3"), await code("kill $$"), await code("kill -9 $$")], [3, 143, 137]);
});

test("output is kept up to its limit, and told to be cut only beyond it", async () => {
  const printed = async (text: string) => {
    const { output, errors, isCut } = await runChild(clock, "h", sh(`printf '%s' ${text}; printf 1234567890 >&2`));
    return [output, errors, isCut];
  };
  assert.deepEqual(await printed("12345678"), ["12345678", "12345678", false]);
  assert.deepEqual(await printed("123456789"), ["12345678", "12345678", true]);
});

test("what a program reads is given to it; one that reads none of it ends as it does", async () => {
  const input = [Buffer.from("a"), Buffer.from("b")];
  assert.equal((await runChild(clock, "h", sh("cat", { input }))).output, "ab");
  const much = Array.from({ length: 64 }, () => Buffer.alloc(65_536));
  assert.equal((await runChild(clock, "h", sh("exec <&-; exit 4", { input: much }))).code, 4);
  async function* failing(): AsyncIterable<Buffer> {
    yield Buffer.from("a");
    throw new Error("the file broke off");
  }
  await assert.rejects(runChild(clock, "h", sh("cat; sleep 1000", { input: failing() })), /the file broke off/);
});

test("a program that is late is ended, with those that it started", async () => {
  const late = new VirtualClock();
  const given = assert.rejects(runChild(late, "h", sh("sleep 1000 & wait", { timeoutMs: 3_000 })), {
    ...{ code: "Timeout", message: "h: it has not ended in 3 s, and was ended" },
  });
  await late.run(3_000);
  await given;
});

test("a program that takes no notice of its end is killed five seconds later", async () => {
  const late = new VirtualClock();
  const stopping = new AbortController();
  let begun = (): void => {};
  const ready = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const write = (_chunk: Buffer, _encoding: string, done: () => void): void => {
    begun();
    done();
  };
  const output = new Writable({ write });
  const script = "trap '' TERM; echo begun; while :; do sleep 0.05; done";
  let isOver = false;
  const given = runChild(late, "h", sh(script, { output, signal: stopping.signal })).finally(() => {
    isOver = true;
  });
  const said = assert.rejects(given, /enough/);
  await ready;
  stopping.abort(new Error("enough"));
  await late.run(4_999);
  assert.equal(isOver, false);
  await late.run(1);
  await said;
  await assert.rejects(runChild(late, "h", sh("true", { signal: stopping.signal })), /enough/);
});
