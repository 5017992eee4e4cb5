import assert from "node:assert/strict";
import { test } from "node:test";
import { usageIn, usageOf } from "./usage.ts";

test("memory and CPU time are read behind a name that may hold anything; a process that has none has no usage", () => {
  const stat = `42 (a) b (c) S 1 42 42 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 100 1 1 1`;
  assert.deepEqual(usageIn(stat, "Name:\tx\nVmRSS:\t    2048 kB\n"), { residentBytes: 2_097_152, cpuSeconds: 3 });
  assert.equal(usageIn(stat, "Name:\tkthreadd\n"), undefined);
});

test("a process that is gone has no usage", async () => {
  assert.equal(await usageOf(2 ** 30), undefined);
});
