import assert from "node:assert/strict";
import { test } from "node:test";
import { loadVendors } from "./vendor.ts";

test("a card's maker is found by the first half of its address", async () => {
  const vendorOf = await loadVendors();
  assert.equal(vendorOf("00:50:56:a5:b5:f1"), "VMware, Inc.");
  assert.equal(vendorOf("52:54:00:12:34:56"), "QEMU virtual machine");
  assert.equal(vendorOf("02:00:00:00:00:01"), "");
});
