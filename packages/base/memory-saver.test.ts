import assert from "node:assert/strict";
import { test } from "node:test";
import { saveMemoryAtRest } from "./memory-saver.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("memory is saved while the process rests, not while it works, and no longer looked at once closed", async () => {
  const clock = new VirtualClock();
  const set: boolean[] = [];
  let cpu = 0;
  const saver = saveMemoryAtRest(clock, { cpuMs: () => cpu, save: (on) => void set.push(on) });
  const pass = async (load: number): Promise<void> => {
    cpu += 2_000 * load;
    await clock.run(2_000);
  };
  await pass(0.5);
  assert.deepEqual(set, []);
  await pass(0.01);
  await pass(0.01);
  assert.deepEqual(set, [true]);
  await pass(0.1);
  assert.deepEqual(set, [true, false]);
  saver.close();
  await pass(0);
  assert.deepEqual(set, [true, false]);
});
