import assert from "node:assert/strict";
import { test } from "node:test";
import { below } from "./below.ts";
import { memoryFiles } from "./memory.ts";

test("a source has its files below a folder's name, and nowhere else", async () => {
  const files = below("iso/debian", memoryFiles({ "a/b": Buffer.from("x"), "iso/debian/c": Buffer.from("y") }));
  const has = async (name: string): Promise<boolean> =>
    (await files.open(name, { address: "192.0.2.1" })) !== undefined;

  assert.deepEqual([await has("iso/debian/a/b"), await has("ISO/Debian/A/B")], [true, true]);
  for (const name of ["a/b", "iso/debian", "iso/debian/", "iso/debianx/a/b", "iso/debian/c"])
    assert.equal(await has(name), false, name);
});
