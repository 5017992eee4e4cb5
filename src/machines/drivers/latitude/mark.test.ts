import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { markText, readMark } from "./mark.ts";

test("a mark is read back, whatever the claim and hostname are", () => {
  const text = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (claim, hostname) =>
      assert.deepEqual(readMark(markText(claim, hostname)), { claim, hostname }),
    ),
  );
});

test("a description that Slipway did not write is no mark", () => {
  for (const text of [
    "",
    "my data",
    "slipway:claim: host:a",
    "slipway:claim:a",
    "a slipway:claim:a host:b",
    "slipway:claim:%zz host:b",
  ]) {
    assert.equal(readMark(text), undefined, text);
  }
});
