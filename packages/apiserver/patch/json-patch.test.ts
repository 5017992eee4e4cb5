import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import fc from "fast-check";
import { allPasses } from "../json/turns.ts";
import { type JsonPatchOperation, jsonPatch as jsonPatchInPasses } from "./json-patch.ts";
import { formatPointer, parsePointer } from "./json-pointer.ts";

const jsonPatch = (target: unknown, ops: readonly JsonPatchOperation[]): unknown =>
  allPasses(jsonPatchInPasses(target, ops));

const APPLIES: [rule: string, target: unknown, ops: JsonPatchOperation[], result: unknown][] = [
  ["add sets a member", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  ["add replaces a member that exists", { a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
  ["add inserts before an index", { l: [1, 3] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2, 3] }],
  ["add appends at the index after the last", { l: [1] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2] }],
  ["add appends at -", { l: [1] }, [{ op: "add", path: "/l/-", value: [2] }], { l: [1, [2]] }],
  ["replace at the root replaces the document", { a: 1 }, [{ op: "replace", path: "", value: [] }], []],
  ["replace sets a member that is absent", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["copy of an absent member is null", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  ["an absent value is null", {}, [{ op: "add", path: "/a" }], { a: null }],
  ["a negative position counts from the end", { l: [1, 2] }, [{ op: "remove", path: "/l/-1" }], { l: [1] }],
  ["a position may have leading zeros", { l: [1, 2] }, [{ op: "remove", path: "/l/01" }], { l: [1] }],
  ["what stands before the first slash is ignored", {}, [{ op: "add", path: "x/a", value: 1 }], { a: 1 }],
  ["a tilde that escapes nothing is itself", { "~2": 1 }, [{ op: "remove", path: "/~2" }], {}],
  [
    "a move below its source lands where the source was not",
    { a: [1, { b: 1 }] },
    [{ op: "move", from: "/a/0", path: "/a/0/c" }],
    { a: [{ b: 1, c: 1 }] },
  ],
  ["remove takes a member away", { a: { b: 1, c: 2 } }, [{ op: "remove", path: "/a/b" }], { a: { c: 2 } }],
  ["remove closes the gap in a list", { l: [1, 2, 3] }, [{ op: "remove", path: "/l/1" }], { l: [1, 3] }],
  ["replace puts a value in its place", { l: [1, 2] }, [{ op: "replace", path: "/l/0", value: 9 }], { l: [9, 2] }],
  [
    "move takes from one place to another",
    { a: { x: 1 }, b: {} },
    [{ op: "move", from: "/a/x", path: "/b/y" }],
    { a: {}, b: { y: 1 } },
  ],
  [
    "move within a list counts after the removal",
    { l: [1, 2, 3] },
    [{ op: "move", from: "/l/0", path: "/l/2" }],
    { l: [2, 3, 1] },
  ],
  ["copy leaves the source", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
  [
    "~1 is a slash and ~0 a tilde",
    { "a/b": { "c~d": 1 } },
    [{ op: "replace", path: "/a~1b/c~0d", value: 2 }],
    { "a/b": { "c~d": 2 } },
  ],
  ["~01 is a tilde and a one", { "~1": 1 }, [{ op: "remove", path: "/~01" }], {}],
  ["an empty token names the empty member", { "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
  [
    "test compares objects without order",
    { a: { x: 1, y: [1] } },
    [{ op: "test", path: "/a", value: { y: [1], x: 1 } }],
    { a: { x: 1, y: [1] } },
  ],
  ["test with null holds for an absent member", { a: {} }, [{ op: "test", path: "/a/b", value: null }], { a: {} }],
  [
    "operations see what earlier ones did",
    {},
    [
      { op: "add", path: "/a", value: {} },
      { op: "add", path: "/a/b", value: 1 },
    ],
    { a: { b: 1 } },
  ],
];

for (const [rule, target, ops, result] of APPLIES) {
  test(`JSON patch: ${rule}`, () => {
    const before = structuredClone(target);
    assert.deepEqual(jsonPatch(target, ops), result);
    assert.deepEqual(target, before);
  });
}

const REFUSED: [rule: string, target: unknown, op: JsonPatchOperation, why: RegExp][] = [
  ["a failed test", { a: 1 }, { op: "test", path: "/a", value: 2 }, /operation 0 \(test\): testing value \/a failed/],
  [
    "a list is none of its beginnings",
    { a: [1, 2] },
    { op: "test", path: "/a", value: [1] },
    /testing value \/a failed/,
  ],
  ["nor a longer one", { a: [1] }, { op: "test", path: "/a", value: [1, 2] }, /testing value \/a failed/],
  ["a number is not its text", { a: 10 }, { op: "test", path: "/a", value: "10" }, /testing value/],
  ["a parent that is absent", {}, { op: "add", path: "/a/b", value: 1 }, /nothing lies below "b"/],
  ["removing what is absent", {}, { op: "remove", path: "/a" }, /there is no member "a"/],
  ["an index beyond the end", { l: [1] }, { op: "add", path: "/l/2", value: 1 }, /"2" is no index of a list of 2/],
  ["- names no element to remove", { l: [1] }, { op: "remove", path: "/l/-" }, /"-" is no index/],
  ["a member of a scalar", { a: 1 }, { op: "add", path: "/a/b", value: 1 }, /nothing lies below "b"/],
  ["a path without slash", { a: 1 }, { op: "remove", path: "a" }, /path names nothing/],
  ["adding at the root", {}, { op: "add", path: "", value: {} }, /path names nothing/],
  ["a scalar at the root", {}, { op: "replace", path: "", value: 1 }, /a document is an object or a list/],
  ["a missing from", {}, { op: "move", path: "/a" }, /from names nothing/],
  ["an unknown operation", {}, { op: "merge", path: "/a" }, /there is no operation "merge"/],
  ["an inherited member is no member", {}, { op: "remove", path: "/constructor" }, /there is no member/],
];

for (const [rule, target, op, why] of REFUSED) {
  test(`JSON patch refuses ${rule}`, () => {
    assert.throws(
      () => jsonPatch(target, [op]),
      (error) => isFault(error, "Invalid") && why.test(error.message),
    );
  });
}

test("JSON patch: copies that double the document end in a refusal, not in memory", () => {
  const ops: JsonPatchOperation[] = Array.from({ length: 64 }, (_, i) => ({
    op: "copy",
    from: "/a",
    path: `/a/c${i}`,
  }));
  assert.throws(
    () => jsonPatch({ a: {} }, ops),
    (error) => isFault(error, "Invalid"),
  );
});

test("JSON patch: a member named __proto__ is data", () => {
  const result = jsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
  assert.deepEqual(Object.keys(result), ["__proto__"]);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test("JSON patch: adding a member and removing it again changes nothing", () => {
  const key = fc.string();
  fc.assert(
    fc.property(
      fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }),
      key,
      fc.jsonValue(),
      (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name));
        const path = formatPointer([name]);
        const back = jsonPatch(jsonPatch(document, [{ op: "add", path, value }]), [{ op: "remove", path }]);
        assert.deepEqual(back, document);
      },
    ),
  );
});

test("JSON pointers: what is formatted is parsed back", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (tokens) =>
      assert.deepEqual(parsePointer(formatPointer(tokens)), tokens),
    ),
  );
});

test("a pointer of more steps than a document has levels names nothing", () => {
  assert.throws(() => jsonPatch({}, [{ op: "add", path: "/a".repeat(100_000), value: 1 }]), { code: "Invalid" });
});
