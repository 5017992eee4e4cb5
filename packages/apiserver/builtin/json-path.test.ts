import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileJsonPath, printJsonPath } from "./json-path.ts";

const object = {
  a: {
    b: [
      { n: "x", v: 1 },
      { n: "y", v: 2, on: true },
    ],
    "c.d": 3,
    e: null,
  },
  list: [0, 1, 2, 3],
  status: {
    conditions: [
      { type: "Synced", status: "False" },
      { type: "Ready", status: "True" },
    ],
  },
};

const FINDS: [path: string, found: unknown[]][] = [
  [".a.b[0].n", ["x"]],
  ["{.a.b[0].n}", ["x"]],
  ["$.a.b[1].v", [2]],
  ["a.b[-1].n", ["y"]],
  [".a['c.d']", [3]],
  [".a.c\\.d", [3]],
  ['.a["c.d"]', [3]],
  [".a.b[*].v", [1, 2]],
  [".a.b.*.n", ["x", "y"]],
  [".list[1:3]", [1, 2]],
  [".list[::2]", [0, 2]],
  [".list[0,2]", [0, 2]],
  ["..n", ["x", "y"]],
  [".a.e", [null]],
  [".a.missing.deeper", []],
  [".list.a", []],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Ready')].status", ["True"]],
  ['.status.conditions[?(@.type != "Ready")].status', ["False"]],
  [".a.b[?(@.v>1)].n", ["y"]],
  [".a.b[?(@.v<=1)].n", ["x"]],
  [".a.b[?(@.on)].n", ["y"]],
  [".a.b[?(@.on==true)].n", ["y"]],
  [".a.b[?(@.n>1)].n", []],
  [".", [object]],
];

for (const [path, found] of FINDS) {
  test(`JSONPath ${path}`, () => assert.deepEqual([...(compileJsonPath(path)?.(object) ?? [])], found));
}

test("what is no JSONPath is reported by undefined", () => {
  for (const path of [".a[", ".a[b]", ".a[?(@.b==)]", ".list[::0]", "..", ".a]"])
    assert.equal(compileJsonPath(path), undefined, path);
});

test("no text and no object make a path throw", () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (path, value) => void [...(compileJsonPath(path)?.(value) ?? [])]),
  );
});

test("a field by any name is found in brackets", () => {
  const name = fc.string().filter((text) => !/['\\]/.test(text));
  fc.assert(
    fc.property(name, fc.jsonValue(), (key, value) =>
      assert.deepEqual([...(compileJsonPath(`['${key}']`)?.({ [key]: value }) ?? [])], [value]),
    ),
    { examples: [["__proto__", {}]] },
  );
});

test("found values are printed bare, objects as JSON", () => {
  assert.deepEqual(["x", 1, true, { a: [1] }].map(printJsonPath), ["x", "1", "true", '{"a":[1]}']);
});
