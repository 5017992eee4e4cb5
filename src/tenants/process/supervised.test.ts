import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type Program, Supervised } from "./supervised.ts";

function rig(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-supervised-"));
  const supervised = new Supervised(new VirtualClock(), () => {});
  t.after(async () => {
    await supervised.want(undefined);
    rmSync(dir, { recursive: true });
  });
  const program = (name: string): Program => ({
    command: "sleep",
    args: ["600"],
    logFile: join(dir, `${name}.log`),
    mark: name,
  });
  return { supervised, program };
}

test("a program runs until none is wanted, and again when it is wanted again", async (t) => {
  const { supervised, program } = rig(t);
  await supervised.want(program("a"));
  assert.equal(supervised.running, true);
  await supervised.want(undefined);
  assert.deepEqual([supervised.running, supervised.failure], [false, undefined]);
  await supervised.want(program("a"));
  assert.equal(supervised.running, true);
});

test("of programs that are wanted one after the other at once only the last is started", async (t) => {
  const { supervised, program } = rig(t);
  const [passed, last] = [program("passed"), program("last")];
  await Promise.all([supervised.want(passed), supervised.want(last)]);
  assert.equal(supervised.running, true);
  assert.deepEqual([existsSync(passed.logFile), existsSync(last.logFile)], [false, true]);
});
