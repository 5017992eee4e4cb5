import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedRead } from "./shared-read.ts";

function counted(keepMs: number) {
  let [now, reads] = [0, 0];
  const shared = new SharedRead<number>({ monotonic: () => now }, keepMs);
  return { get: () => shared.get(async () => ++reads), pass: (ms: number) => (now += ms) };
}

test("who asks while a read is under way shares it; nothing is kept for 0 ms", async () => {
  const { get } = counted(0);
  assert.deepEqual(await Promise.all([get(), get()]), [1, 1]);
  assert.equal(await get(), 2);
});

test("a value is used until it is too old", async () => {
  const { get, pass } = counted(1000);
  assert.equal(await get(), 1);
  pass(999);
  assert.equal(await get(), 1);
  pass(1);
  assert.equal(await get(), 2);
});

test("a failed read serves nobody who asks later", async () => {
  const shared = new SharedRead<number>({ monotonic: () => 0 }, 1000);
  await assert.rejects(shared.get(() => Promise.reject(new Error("no"))));
  assert.equal(await shared.get(async () => 7), 7);
});
