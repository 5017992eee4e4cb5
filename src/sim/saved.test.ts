import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { savedState } from "./saved.ts";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "slipway-saved-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("what was never saved loads as undefined, and what was saved is found by another process", async (t) => {
  const file = join(await folder(t), "deeper", "cloud.json");
  const clock = new VirtualClock();
  const state = savedState(file, { clock, debounceMs: 500 });
  assert.equal(await state.load(), undefined);

  state.changed(() => ({ machines: 3 }));
  await state.flush();

  assert.deepEqual(await savedState(file, { clock, debounceMs: 500 }).load(), { machines: 3 });
  assert.equal(clock.pending, 0);
});

test("all changes of one debounce are one write, of what is true when it is written", async (t) => {
  const file = join(await folder(t), "cloud.json");
  const clock = new VirtualClock();
  const state = savedState(file, { clock, debounceMs: 500 });
  let reads = 0;
  let machines = 0;
  const change = (): void => {
    machines++;
    state.changed(() => ({ machines, reads: ++reads }));
  };

  for (let i = 0; i < 10; i++) {
    change();
    await clock.run(50);
  }
  await state.flush();

  assert.equal(reads, 1, "ten changes in 450 ms");
  assert.deepEqual(JSON.parse(await readFile(file, "utf8")), { machines: 10, reads: 1 });
});

test("without a change nothing is written, and a flush twice writes once", async (t) => {
  const path = await folder(t);
  const state = savedState(join(path, "cloud.json"), { clock: new VirtualClock(), debounceMs: 0 });
  await state.flush();
  assert.deepEqual(await readdir(path), []);

  let reads = 0;
  state.changed(() => ({ reads: ++reads }));
  await Promise.all([state.flush(), state.flush()]);
  await state.flush();
  assert.equal(reads, 1);
});

test("a change during a write is written after it, never beside it", async (t) => {
  const path = await folder(t);
  const file = join(path, "cloud.json");
  const clock = new VirtualClock();
  const state = savedState(file, { clock, debounceMs: 100 });
  const large = "x".repeat(1_000_000);
  let last = 0;
  state.changed(() => {
    // Comes in while the first write is on its way.
    state.changed(() => ({ last: ++last, large }));
    return { last: ++last, large };
  });
  await clock.run(250);
  await state.flush();

  assert.equal(JSON.parse(await readFile(file, "utf8")).last, 2);
  assert.deepEqual(await readdir(path), ["cloud.json"]);
});

test("the file is whole at any moment", async (t) => {
  const file = join(await folder(t), "cloud.json");
  const state = savedState(file, { clock: new VirtualClock(), debounceMs: 0 });
  const large = "x".repeat(2_000_000);
  state.changed(() => ({ round: 0, large }));
  await state.flush();

  let writing = true;
  const rounds = (async () => {
    for (let round = 1; round <= 5; round++) {
      state.changed(() => ({ round, large }));
      await state.flush();
    }
    writing = false;
  })();
  let seen = 0;
  while (writing) {
    const { round } = JSON.parse(await readFile(file, "utf8"));
    assert.ok(round >= seen);
    seen = round;
  }
  await rounds;
});

test("only the owner may read it: it holds keys", async (t) => {
  const file = join(await folder(t), "cloud.json");
  const state = savedState(file, { clock: new VirtualClock(), debounceMs: 0 });
  state.changed(() => ({ token: "secret" }));
  await state.flush();

  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a file that is not JSON is refused, named, and not quoted", async (t) => {
  const file = join(await folder(t), "cloud.json");
  await writeFile(file, '{"token":"secret');

  await assert.rejects(savedState(file, { clock: new VirtualClock(), debounceMs: 0 }).load(), (error: Fault) => {
    assert.ok(isFault(error, "Invalid"));
    assert.ok(error.remedy?.includes(`delete ${file}`));
    assert.ok(!error.advice.includes("secret"));
    return true;
  });
});

test("a write that fails is reported, and its state is written by the next", async (t) => {
  const path = await folder(t);
  await writeFile(join(path, "in-the-way"), "");
  const clock = new VirtualClock();
  const faults: Fault[] = [];
  const file = join(path, "in-the-way", "cloud.json");
  const state = savedState(file, { clock, debounceMs: 100, onFault: (fault) => faults.push(fault) });

  state.changed(() => ({ machines: 1 }));
  await clock.run(100);
  await assert.rejects(state.flush(), (error) => isFault(error, "Unavailable"));
  assert.ok(faults.length === 1 && isFault(faults[0], "Unavailable"));

  await rm(join(path, "in-the-way"));
  await state.flush();
  assert.deepEqual(await state.load(), { machines: 1 });
});
