import assert from "node:assert/strict";
import { test } from "node:test";
import { bootInterface, kernelArguments } from "./kernel-arguments.ts";

test("words are given on in their order", () => {
  assert.deepEqual(kernelArguments(["a=1", "ds=nocloud;s=http://s/", "---"]), ["a=1", "ds=nocloud;s=http://s/", "---"]);
});

test("what would be no word, or several, is refused", () => {
  for (const word of ["", "a b", "a\tb", "ü", 'a"b', "a'b", "a\\"])
    assert.throws(() => kernelArguments(["ok", word]), /is not one word without quotes/, JSON.stringify(word));
  assert.throws(() => kernelArguments(["url=http://s/secret 1"]), /^Fault: kernel arguments: "url" is not one word/);
});

test("what the kernel would cut off is refused: 2048 bytes with the blanks and the end mark", () => {
  assert.equal(kernelArguments(["a".repeat(1023), "b".repeat(1023)]).length, 2);
  assert.throws(
    () => kernelArguments(["a".repeat(1024), "b".repeat(1023)]),
    /they need 2049 bytes, the kernel keeps 2048/,
  );
});

test("the card that the machine boots from is named as PXELINUX does", () => {
  assert.equal(bootInterface("52:54:00:ab:cd:ef"), "BOOTIF=01-52-54-00-ab-cd-ef");
});
