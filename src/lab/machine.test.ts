import assert from "node:assert/strict";
import { test } from "node:test";
import { labMac, labUuid } from "./machine.ts";

test("a machine's address and UUID hold its number in hexadecimal", () => {
  assert.equal(labMac(1), "52:54:00:77:00:01");
  assert.equal(labMac(0xffff), "52:54:00:77:ff:ff");
  assert.equal(labUuid(1), "534c4950-5741-4000-8000-000000000001");
  assert.equal(labUuid(0xabc), "534c4950-5741-4000-8000-000000000abc");
  for (const none of [0, 0x1_0000, 1.5]) assert.throws(() => labMac(none), RangeError);
});
