import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import { whyNot } from "./patch-failure.ts";

test("the reason is that of the first operation that fails, on what those before it leave", () => {
  const operations = [
    { op: "add", path: "/data/b", value: "1" },
    { op: "remove", path: "/data/b" },
    { op: "remove", path: "/data/b" },
    { op: "remove", path: "/none/b" },
  ];
  assert.equal(
    whyNot({ data: { a: "1" } }, operations),
    "error in remove for path: '/data/b': Unable to remove nonexistent key: b: missing value",
  );
});

test("twice the operations before the one that fails cost no more than 2.5 times the work", () => {
  const growth = cpuGrowth((n) => {
    const adds = Array.from({ length: n }, (_, i) => ({ op: "add", path: `/data/k${i}`, value: "v" }));
    const operations = [...adds, { op: "remove", path: "/data/none" }];
    return () => assert.match(whyNot({ data: {} }, operations), /nonexistent key: none/);
  }, 500);
  assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
});
