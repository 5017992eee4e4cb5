import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readYaml } from "./yaml-body.ts";

const valueIn = async (text: string): Promise<unknown> => (await readYaml(text)).value;

test("of several documents the first is read, of none null", async () => {
  assert.deepEqual(await valueIn("a: 1\n---\nb: 2\n"), { a: 1 });
  assert.equal(await valueIn(""), null);
});

test("the booleans are those of YAML 1.1", async () => {
  assert.deepEqual(await valueIn("a: yes\nb: off\nc: y\nd: yEs\n"), { a: true, b: false, c: true, d: "yEs" });
});

test("the last of two equal keys counts, and the second is told by its line", async () => {
  const twice = (line: number): string => `yaml: unmarshal errors:\n  line ${line}: key "c" already set in map`;
  assert.deepEqual(await readYaml("a: 1\nb:\n  c: 1\n  c: 2\n"), {
    value: { a: 1, b: { c: 2 } },
    twice: twice(4),
    isJson: false,
  });
  assert.deepEqual(await readYaml('{"c": 1,\n"c": 2}'), { value: { c: 2 }, twice: twice(2), isJson: false });
});

test("a text that is no YAML is refused", async () => {
  await assert.rejects(readYaml("a: [1"), { name: "YAMLException" });
  await assert.rejects(readYaml('{"a": [1'), { name: "YAMLException" });
});

test("what follows the first document is not looked at", async () => {
  assert.deepEqual(await valueIn("# c\n%YAML 1.1\n---\na: 1\n---\nb: [\n"), { a: 1 });
  assert.equal(await valueIn("---\n---\na: 1\n"), null);
  assert.deepEqual(await valueIn("...\n...\na: 1\n...\nb: [\n"), { a: 1 });
  assert.deepEqual(await valueIn("a: |\n  ---\n  b\n"), { a: "---\nb\n" });
});

test("aliases that make billions of values of a few lines are refused in upstream's words", async () => {
  const bomb = ["a0: &a0 [x]", ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)];
  await assert.rejects(readYaml(bomb.join("\n")), { reason: "document contains excessive aliasing" });
  await assert.rejects(readYaml("a: &a [*a]"), { reason: "anchor value contains itself" });
});

test("JSON is read as the YAML that it is", async () => {
  const asYaml = async (text: string): Promise<unknown> => valueIn(`---\n${text}`);
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
      // A zero's sign is all that differs.
      const text = JSON.stringify(value).replaceAll("-0", "0");
      assert.deepEqual(await valueIn(text), await asYaml(text));
    }),
  );
});

test("more values than a body may hold are refused, whatever their form", async () => {
  const many = (limit: number) => ({
    code: "TooLarge",
    message: new RegExp(`Request entity too large: limit is ${limit} values, got at least ${limit + 1}$`),
  });
  const items = (n: number, item: string): string => Array.from({ length: n }, () => item).join(",");
  await assert.rejects(readYaml(`{"a":[${items(50_000, "1")}]}`), many(50_000));
  await assert.rejects(readYaml(`a: [${items(25_000, "1")}]`), many(25_000));
  await assert.rejects(readYaml(`a:\n${"- b: c\n".repeat(12_500)}`), many(25_000));
  await assert.rejects(readYaml(`a: &a [${items(16_000, "1")}]\nb: [*a, *a, *a, *a, *a, *a]`), many(50_000));
  assert.deepEqual(await valueIn(`{"a":'${items(50_001, "1")}'}`), { a: items(50_001, "1") });
  assert.equal(((await valueIn(`[${items(25_000, "1")}]`)) as unknown[]).length, 25_000);
});
