import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonPatchOperation, patched } from "./json-patch.ts";

const apply = (document: object, ...operations: JsonPatchOperation[]): object => patched(document, operations);

test("each operation does what RFC 6902 says", () => {
  const document = { a: { b: [1, 2, 3] }, "x/y": 1, "~": 2 };
  assert.deepEqual(apply(document, { op: "add", path: "/a/b/1", value: 9 }), { ...document, a: { b: [1, 9, 2, 3] } });
  assert.deepEqual(apply(document, { op: "add", path: "/a/b/-", value: 9 }), { ...document, a: { b: [1, 2, 3, 9] } });
  assert.deepEqual(apply(document, { op: "remove", path: "/a/b/0" }), { ...document, a: { b: [2, 3] } });
  assert.deepEqual(apply(document, { op: "replace", path: "/x~1y", value: 5 }), { ...document, "x/y": 5 });
  assert.deepEqual(apply(document, { op: "replace", path: "/~0", value: 5 }), { ...document, "~": 5 });
  assert.deepEqual(apply(document, { op: "move", from: "/a/b", path: "/c" }), {
    "x/y": 1,
    "~": 2,
    a: {},
    c: [1, 2, 3],
  });
  assert.deepEqual(apply(document, { op: "copy", from: "/a/b", path: "/c" }), { ...document, c: [1, 2, 3] });
  assert.deepEqual(apply(document, { op: "test", path: "/a", value: { b: [1, 2, 3] } }), document);
  assert.deepEqual(apply(document, { op: "replace", path: "", value: { c: 1 } }), { c: 1 });
});

test("what is missing is added or let be", () => {
  assert.deepEqual(apply({}, { op: "replace", path: "/a", value: 1 }), { a: 1 });
  assert.deepEqual(apply({}, { op: "add", path: "/a/b/c", value: 1 }), { a: { b: { c: 1 } } });
  assert.deepEqual(apply({ a: [] }, { op: "remove", path: "/a/0" }, { op: "remove", path: "/b/c" }), { a: [] });
  assert.deepEqual(apply({}, { op: "add", path: "/a" }), { a: null });
});

test("a patch that can't be applied is refused, and names the operation", () => {
  const refused: [JsonPatchOperation, RegExp][] = [
    [{ op: "test", path: "/a", value: 2 }, /configurationJSONPatches\[1\]: test \/a: another value is there/],
    [{ op: "add", path: "a", value: 2 }, /a path begins with a slash/],
    [{ op: "add", path: "/list/7", value: 2 }, /the list has 1 members/],
    [{ op: "add", path: "/a/b", value: 2 }, /a is no object/],
    [{ op: "move", from: "/none", path: "/b" }, /there is nothing at \/none/],
    [{ op: "copy", path: "/b", from: "a" }, /from begins with a slash/],
    [{ op: "rename" as "add", path: "/b" }, /there is no such operation/],
  ];
  for (const [operation, message] of refused)
    assert.throws(() => apply({ a: 1, list: [1] }, { op: "test", path: "/a", value: 1 }, operation), message);
  assert.throws(() => apply({}, { op: "replace", path: "", value: 1 }), /they leave no configuration/);
});

test("neither the document nor a patch's value is shared or changed, and no path reaches a prototype", () => {
  const document = { a: { b: 1 } };
  const value = { c: 1 };
  const found = apply(document, { op: "add", path: "/d", value }, { op: "replace", path: "/d/c", value: 2 });
  assert.deepEqual([document, value, found], [{ a: { b: 1 } }, { c: 1 }, { a: { b: 1 }, d: { c: 2 } }]);
  apply({}, { op: "add", path: "/__proto__/polluted", value: true });
  apply({}, { op: "add", path: "/constructor/prototype/polluted", value: true });
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});
