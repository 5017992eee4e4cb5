import assert from "node:assert/strict";
import { test } from "node:test";
import { closeAll } from "./close-all.ts";

test("a part that can't be ended well keeps no other from being ended, and is reported", async () => {
  const ended: number[] = [];
  const part = (n: number) => async (): Promise<void> => {
    ended.push(n);
    if (n === 2) throw new Error("disk full");
  };
  await assert.rejects(closeAll([part(1), part(2), part(3)]), /disk full/);
  assert.deepEqual(ended, [3, 2, 1]);
});
