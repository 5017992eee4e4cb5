import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isMac, macBytes, macFromBytes, parseMac } from "./mac.ts";

test("every notation becomes the lower-case one with colons", () => {
  const same = [
    "52:54:00:AB:CD:0F",
    "52-54-00-ab-cd-0f",
    "5254.00ab.cd0f",
    "525400ABCD0F",
    "52:54:0:ab:cd:f",
    " 52:54:00:ab:cd:0f\n",
  ];
  for (const text of same) assert.equal(parseMac(text), "52:54:00:ab:cd:0f", text);
});

test("what is no MAC address is refused and named", () => {
  const wrong = [
    "",
    "52:54:00:ab:cd",
    "52:54:00:ab:cd:0f:00",
    "52:54-00:ab:cd:0f",
    "5254.00ab",
    "52:54:00:ab:cd:0g",
    "52::00:ab:cd:0f",
  ];
  for (const text of wrong) {
    assert.equal(isMac(text), false);
    assert.throws(() => parseMac(text), /^RangeError: MAC address ".*": not six bytes/);
  }
  assert.throws(() => macFromBytes(new Uint8Array(5)), /MAC address of 5 bytes/);
});

test("bytes are read back from the text, and the text from the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 6, maxLength: 6 }), (bytes) => {
      const mac = macFromBytes(bytes);
      assert.deepEqual(macBytes(mac), bytes);
      assert.equal(parseMac(mac.toUpperCase().replaceAll(":", "-")), mac);
    }),
  );
});
