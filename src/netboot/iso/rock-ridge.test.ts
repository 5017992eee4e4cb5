import assert from "node:assert/strict";
import { test } from "node:test";
import { rockRidge } from "./rock-ridge.ts";

test("a number is read of as many bytes as it needs, and left out where a field has fewer", () => {
  const field = (name: string, ...bytes: number[]) => ({ name, data: Buffer.from(bytes) });
  assert.deepEqual(rockRidge([field("CL", 5, 1, 0, 0)]), { movedTo: 261, special: false, compressed: false });
  assert.deepEqual(rockRidge([field("CL", 5, 1, 0)]), { special: false, compressed: false });
  assert.equal(rockRidge([field("PX", 0, 0o60, 0, 0)]).special, true, "a block device: 0o060000");
  assert.equal(rockRidge([field("PX", 0, 0o60, 0)]).special, false);
});
