import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { fileOf } from "./memory.ts";
import { patching } from "./patched.ts";

test("N24 a placeholder is replaced wherever it lies and however the file is read", async () => {
  const text = fc
    .array(fc.constantFrom("@@ab", "@@a", "@", "b", "xyz"), { maxLength: 30 })
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (content, step) => {
      const file = patching("@@ab", "12")(fileOf(Buffer.from(content)));
      let read = "";
      for (let at = 0; at < file.size; at += step) read += Buffer.from(await file.read(at, step)).toString();
      assert.equal(read, content.replaceAll("@@ab", "12  "));
    }),
  );
});

test("a patched file is as long as before, another content to caches, and leaves the original as it is", async () => {
  const bytes = Buffer.from("a @@ab b");
  const [original, one, two] = [
    fileOf(bytes),
    patching("@@ab", "1234")(fileOf(bytes)),
    patching("@@ab", "4321")(fileOf(bytes)),
  ];
  assert.equal(Buffer.from(await one.read(0, 100)).toString(), "a 1234 b");
  assert.equal(bytes.toString(), "a @@ab b");
  assert.equal(one.size, original.size);
  assert.equal(new Set([original.version, one.version, two.version]).size, 3);
});

test("a placeholder that is ambiguous, or shorter than its value, is refused", () => {
  for (const [find, put] of [
    ["abc", "abcd"],
    ["", ""],
    ["aba", "xyz"],
    ["aa", "xy"],
  ] as const)
    assert.throws(
      () => patching(find, put),
      (e) => isFault(e, "Invalid"),
      find,
    );
});
