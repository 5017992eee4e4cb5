import assert from "node:assert/strict";
import { test } from "node:test";
import { formatIpv4, maskOf, parseIpv4 } from "./ipv4.ts";

test("the ends of the address space are read and written", () => {
  for (const text of ["0.0.0.0", "10.0.0.1", "255.255.255.255"]) assert.equal(formatIpv4(parseIpv4(text)), text);
  assert.throws(() => parseIpv4("fd00::1"), RangeError);
});

test("a mask of any length", () => {
  assert.deepEqual(
    [0, 8, 31, 32].map((prefix) => formatIpv4(maskOf(prefix))),
    ["0.0.0.0", "255.0.0.0", "255.255.255.254", "255.255.255.255"],
  );
});
