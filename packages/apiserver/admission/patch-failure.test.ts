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

test("each operation that does not apply has its words", () => {
  const document = { data: { a: "1", list: [1] } };
  const doc = (op: string, path: string) => `${op} operation does not apply: doc is missing ${path}: missing value`;
  for (const [operation, said] of [
    [{ op: "add", path: "/none/b", value: 1 }, doc("add", 'path: "/none/b"')],
    [
      { op: "add", path: "/data/list/9", value: 1 },
      "error in add for path: '/data/list/9': Unable to access invalid index: 9: invalid index referenced",
    ],
    [{ op: "remove", path: "/none/b" }, doc("remove", 'path: "/none/b"')],
    [
      { op: "remove", path: "/data/x~1y~0z" },
      "error in remove for path: '/data/x~1y~0z': Unable to remove nonexistent key: x/y~z: missing value",
    ],
    [
      { op: "remove", path: "/data/list/5" },
      "error in remove for path: '/data/list/5': Unable to access invalid index: 5: invalid index referenced",
    ],
    [{ op: "replace", path: "/data/list/9", value: 1 }, doc("replace", "key: /data/list/9")],
    [{ op: "replace", path: "/none/b", value: 1 }, doc("replace", "path: /none/b")],
    [{ op: "test", path: "/data/a", value: "2" }, "testing value /data/a failed: test failed"],
    [
      { op: "test", path: "/none/b", value: "2" },
      "test operation does not apply: is missing path: /none/b: missing value",
    ],
    [{ op: "move", from: "/none/b", path: "/data/c" }, doc("move", "from path: /none/b")],
    [{ op: "copy", from: "/data/a", path: "/none/c" }, doc("copy", "destination path: /none/c")],
    [{ op: "paint", path: "/data/a" }, "Unexpected kind: paint"],
    [{ op: "add", path: "/data/c", value: 1 }, "invalid state detected"],
  ] as const)
    assert.equal(whyNot(document, [operation as never]), said, JSON.stringify(operation));
});

test("twice the operations before the one that fails cost no more than 2.5 times the work", () => {
  const growth = cpuGrowth((n) => {
    const adds = Array.from({ length: n }, (_, i) => ({ op: "add", path: `/data/k${i}`, value: "v" }));
    const operations = [...adds, { op: "remove", path: "/data/none" }];
    return () => assert.match(whyNot({ data: {} }, operations), /nonexistent key: none/);
  }, 500);
  assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
});
