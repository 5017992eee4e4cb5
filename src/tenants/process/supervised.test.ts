import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { deadline, systemClock } from "@slipway/base";
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

/** Programs that end at once, in virtual time: `ended` resolves at the next report of one. */
function ending(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-supervised-"));
  const clock = new VirtualClock();
  let report = () => {};
  const supervised = new Supervised(clock, () => report());
  t.after(async () => {
    await supervised.want(undefined);
    rmSync(dir, { recursive: true });
  });
  const program: Program = {
    command: "/bin/sh",
    args: ["-c", "echo one; echo two; echo three; echo $WHY; exit 7"],
    env: { WHY: "no disk" },
    logFile: join(dir, "log"),
    mark: "1",
  };
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      report = resolve;
    });
  return { supervised, program, clock, ended };
}

test("a program that ends by itself is started again after a pause that doubles up to a minute, and its last words are kept", async (t) => {
  const { supervised, program, clock, ended } = ending(t);
  const first = ended();
  await supervised.want(program);
  await first;
  assert.equal(supervised.running, false);
  assert.equal(supervised.pid(), undefined);
  assert.equal(supervised.failure, "it ended with exit code 7: two\nthree\nno disk");
  for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    await clock.run(pause - 1);
    assert.equal(supervised.running, false, `not before ${pause} ms`);
    const next = ended();
    await clock.run(1);
    await next;
  }
});

test("a program that ran for a minute has recovered: its next pause is the first one; another one begins without any", async (t) => {
  const { supervised, program, clock, ended } = ending(t);
  const again = async (pause: number): Promise<void> => {
    await clock.run(pause - 1);
    assert.equal(supervised.running, false);
    const next = ended();
    await clock.run(1);
    await next;
  };
  const first = ended();
  await supervised.want(program);
  await first;
  await again(1_000);
  await again(2_000);
  const steady = { ...program, command: "sleep", args: ["600"] };
  await supervised.want(steady);
  assert.deepEqual([supervised.running, supervised.failure], [true, undefined]);
  await clock.run(120_000);
  const next = ended();
  await supervised.want(program);
  await next;
  await again(1_000);
});

/** Its process id, once its keeper has started it. */
async function startedAs(supervised: Supervised): Promise<number> {
  const { signal, done } = deadline(systemClock, 20_000);
  try {
    for (;;) {
      const pid = supervised.pid();
      if (pid !== undefined && pid > 0) return pid;
      signal.throwIfAborted();
      await systemClock.sleep(5);
    }
  } finally {
    done();
  }
}

test("what is wanted already stays as it is; another mark is another start", async (t) => {
  const { supervised, program } = rig(t);
  await supervised.want(program("a"));
  const pid = await startedAs(supervised);
  await supervised.want(program("a"));
  assert.equal(supervised.pid(), pid);
  await supervised.want({ ...program("a"), mark: "another" });
  assert.notEqual(await startedAs(supervised), pid);
  assert.equal(supervised.wanted, true);
  await supervised.want(undefined);
  assert.equal(supervised.wanted, false);
});
