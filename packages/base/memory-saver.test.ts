import assert from "node:assert/strict";
import { test } from "node:test";
import { saveMemoryAtRest, thisProcess } from "./memory-saver.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("memory is saved while the process rests, not while it works, and no longer looked at once closed", async () => {
  const clock = new VirtualClock();
  const set: boolean[] = [];
  let cpu = 0;
  const saver = saveMemoryAtRest(clock, { cpuMs: () => cpu, save: (on) => void set.push(on), collect: () => {} });
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

test("what became free is collected twice in a rest, the second time when the past is forgotten, and again in the next rest", async () => {
  const clock = new VirtualClock();
  const collected: number[] = [];
  let cpu = 0;
  const saver = saveMemoryAtRest(clock, {
    cpuMs: () => cpu,
    save: () => {},
    collect: () => void collected.push(clock.monotonic()),
  });
  const began = clock.monotonic();
  await clock.run(600_000);
  assert.deepEqual(
    collected.map((at) => at - began),
    [20_000, 120_000],
  );
  cpu += 2_000;
  await clock.run(2_000);
  await clock.run(19_000);
  assert.equal(collected.length, 2);
  await clock.run(1_000);
  assert.equal(collected.length, 3);
  saver.close();
});

test("a collection that takes a third of a second is no work that ends the rest", async () => {
  const clock = new VirtualClock();
  let [cpu, collections] = [0, 0];
  const collect = (): void => {
    cpu += 330;
    collections++;
  };
  const saver = saveMemoryAtRest(clock, { cpuMs: () => cpu, save: () => {}, collect });
  await clock.run(3_600_000);
  saver.close();
  assert.equal(collections, 2);
});

test("a real collection frees memory", () => {
  const held = { large: new Array<object>(1_000_000).fill({}) as object[] | undefined };
  const before = process.memoryUsage().heapUsed;
  held.large = undefined;
  let asked = 0;
  const clock = new VirtualClock();
  const saver = saveMemoryAtRest(clock, { ...thisProcess, cpuMs: () => asked++ });
  return clock.run(30_000).then(() => {
    saver.close();
    assert.ok(process.memoryUsage().heapUsed < before - 4_000_000);
  });
});
