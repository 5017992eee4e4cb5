import assert from "node:assert/strict";
import { test } from "node:test";
import { readYaml } from "./yaml-body.ts";

test("of several documents the first is read, of none null", () => {
  assert.deepEqual(readYaml("a: 1\n---\nb: 2\n").value, { a: 1 });
  assert.equal(readYaml("").value, null);
});

test("the booleans are those of YAML 1.1", () => {
  assert.deepEqual(readYaml("a: yes\nb: off\nc: y\nd: yEs\n").value, { a: true, b: false, c: true, d: "yEs" });
});

test("the last of two equal keys counts, and the second is told by its line", () => {
  assert.deepEqual(readYaml("a: 1\nb:\n  c: 1\n  c: 2\n"), {
    value: { a: 1, b: { c: 2 } },
    twice: 'yaml: unmarshal errors:\n  line 4: key "c" already set in map',
  });
});

test("a text that is no YAML is refused", () => {
  assert.throws(() => readYaml("a: [1"), { name: "YAMLException" });
});
