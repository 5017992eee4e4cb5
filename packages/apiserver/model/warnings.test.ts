import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { warningHeaders } from "./warnings.ts";

const texts = (warning: string | undefined): string[] =>
  [...(warning ?? "").matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((m) => m[1]!);

test("each text stands once, quoted; the empty and those with control characters are left out", () => {
  const { warning } = warningHeaders(["a", 'say "b"', "a", "", "line\nbreak"]);
  assert.equal(warning, '299 - "a", 299 - "say \\"b\\""');
  assert.deepEqual(warningHeaders([]), {});
  assert.deepEqual(warningHeaders(["\t"]), {});
});

test("what is not ASCII is sent as UTF-8, a character per byte", () => {
  const { warning = "" } = warningHeaders(["grün"]);
  assert.equal(Buffer.from(warning, "latin1").toString("utf8"), '299 - "grün"');
});

test("beyond 4096 characters together, texts are cut to 256, and the rest is left out", () => {
  const long = Array.from({ length: 30 }, (_, i) => `${i}`.padEnd(300, "x"));
  const sent = texts(warningHeaders(long).warning);
  assert.equal(sent.length, 16);
  assert.ok(sent.every((text) => text.length === 256));
  assert.equal(texts(warningHeaders(long.slice(0, 13)).warning)[0]?.length, 300);
});

test("no header is longer than its limits allow, whatever is warned of", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 1000, unit: "grapheme" })), (given) => {
      const { warning = "" } = warningHeaders(given);
      assert.doesNotMatch(warning, /[\r\n\0]/);
      const characters = [...Buffer.from(warning, "latin1").toString("utf8")].length;
      assert.ok(characters <= (4096 + 256) * 2 + given.length * 12);
    }),
  );
});
