import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readYaml } from "./yaml-body.ts";

const valueIn = async (text: string): Promise<unknown> => (await readYaml(text)).value;

test("of several documents the first is read, of none null", async () => {
  assert.deepEqual(await valueIn("a: 1\n---\nb: 2\n"), { a: 1 });
  assert.equal(await valueIn(""), null);
});

test("others have their turn while the first of very many documents is looked for", async () => {
  let turns = 0;
  const text = `${"...\n".repeat(20_000)}a: 1\n`;
  const { value } = await readYaml(text, async () => void turns++);
  assert.deepEqual(value, { a: 1 });
  assert.ok(turns >= 5 && turns < 50, `${turns} turns`);
});

test("the booleans are those of YAML 1.1", async () => {
  assert.deepEqual(await valueIn("a: yes\nb: off\nc: y\nd: yEs\n"), { a: true, b: false, c: true, d: "yEs" });
});

test("the last of two equal keys counts, and the second is reported by its line", async () => {
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

test("more lines than a body may hold are refused, and more directives than make sense", async () => {
  const lines = (n: number): string => `a: |\n${"  b\n".repeat(n - 2)}`;
  await assert.rejects(readYaml(lines(300_001)), { code: "TooLarge", message: /limit is 300000 lines$/ });
  assert.equal(((await valueIn(lines(300_000))) as { a: string }).a.length, 2 * 299_998);
  for (const end of ["\r", "\r\n"]) {
    await assert.rejects(readYaml(lines(300_001).replaceAll("\n", end)), { code: "TooLarge" });
    assert.equal(((await valueIn(lines(300_000).replaceAll("\n", end))) as { a: string }).a.length, 2 * 299_998);
  }
  const marked = (n: number): string => `"${"\n\uFEFF".repeat(n - 1)}"`;
  await assert.rejects(readYaml(marked(100_001)), { code: "TooLarge" });
  assert.equal(typeof (await valueIn(marked(100_000))), "string");
  const directives = (n: number): string =>
    `${Array.from({ length: n }, (_, i) => `%TAG !t${i}! x`).join("\n")}\n---\na: 1\n`;
  assert.deepEqual(await valueIn(directives(1000)), { a: 1 });
  await assert.rejects(readYaml(directives(1001)), { reason: "too many directives" });
});

test("a mistake behind more values than a body may hold is not reached", async () => {
  await assert.rejects(readYaml(`${"- 1\n".repeat(200_000)}[`), { code: "TooLarge" });
  await assert.rejects(readYaml(`${"- 1\n".repeat(20_000)}[`), { name: "YAMLException" });
  await assert.rejects(readYaml("- ".repeat(101)), { reason: "nesting exceeded maxDepth (100)" });
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
