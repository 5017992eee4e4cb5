import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fileName } from "./name.ts";

test("leading slashes, backslashes, empty and single-dot parts name the same file", () => {
  for (const name of ["grub/grub.cfg", "/grub/grub.cfg", "//grub//./grub.cfg", "\\grub\\grub.cfg", "./grub/grub.cfg/"])
    assert.equal(fileName(name), "grub/grub.cfg");
});

test("N2 no name leads out of what is served, or to a hidden file", () => {
  for (const name of ["../key.pem", "a/../../key.pem", "a\\..\\key.pem", "..", "a/.git/config", ".env", "/", "", "."])
    assert.equal(fileName(name), undefined, name);
});

test("control characters, characters beyond ASCII and overlong names are refused", () => {
  for (const name of ["a\0b", "a\nb", "a\x7f", "ä", "x".repeat(513)]) assert.equal(fileName(name), undefined);
});

test("whatever is asked, an accepted name has no empty part and none that begins with a dot", () => {
  const name = fc
    .array(fc.constantFrom("..", ".", "/", "\\", "a", "B", " ", "%2e", "\0"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(name, (requested) => {
      for (const part of fileName(requested)?.split("/") ?? []) assert.match(part, /^[^./\\][^/\\]*$/);
    }),
  );
});
