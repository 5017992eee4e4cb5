import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { argument, harvesterArguments, words } from "./kernel-command-line.ts";

test("words end at white space, but not inside double quotes, which are taken off", () => {
  assert.deepEqual(words('a=1  b="two words" "c d"=e\tf'), ["a=1", "b=two words", "c d=e", "f"]);
  assert.deepEqual(words(""), []);
  assert.deepEqual(words('open="to the end'), ["open=to the end"]);
});

test("the last of a repeated argument counts; a bare one is empty; an absent one is not there", () => {
  assert.equal(argument("console=tty0 quiet console=ttyS1", "console"), "ttyS1");
  assert.equal(argument("console=tty0 quiet", "quiet"), "");
  assert.equal(argument("console=tty0 quiet", "root"), undefined);
  assert.equal(argument("rootflags=ro", "root"), undefined);
});

const TABLE: [line: string, tree: object][] = [
  ["harvester.token=abc", { token: "abc" }],
  ["harvester.install.automatic", { install: { automatic: "true" } }],
  ["harvester.a.b=1 harvester.a.c=2", { a: { b: "1", c: "2" } }],
  ["harvester.a=1 harvester.a=2 harvester.a=3", { a: ["1", "2", "3"] }],
  ['harvester.os.password="two words"', { os: { password: "two words" } }],
  ["harvester.url=https://a.example/?x=y", { url: "https://a.example/?x=y" }],
  ["harvester.a=1 harvester.a.b=2", { a: "1" }],
  ["harvester.a.b=2 harvester.a=1", { a: { b: "2" } }],
  ["harvester.empty=", { empty: "" }],
  ["harvester= harvester harvester..x=1 harvester.x.=1 other.x=1 harvesters.x=1", {}],
  ["harvester.__proto__.polluted=1 harvester.constructor.polluted=1", { constructor: { polluted: "1" } }],
];
for (const [line, tree] of TABLE) {
  test(`kernel arguments: ${line}`, () => {
    const read = harvesterArguments(line);
    assert.deepEqual(JSON.parse(JSON.stringify(read)), tree);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.equal((Object as unknown as Record<string, unknown>).polluted, undefined);
  });
}

test("whatever values stand behind distinct keys, each is read back from its place", () => {
  const key = fc.stringMatching(/^[a-z][a-z_]{0,6}$/);
  const value = fc.stringMatching(/^[^"\s]{1,12}( [^"\s]{1,4})?$/);
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(key, key, value), { selector: ([a, b]) => `${a}.${b}` }), (entries) => {
      const line = entries.map(([a, b, text]) => `harvester.${a}.${b}="${text}"`).join(" ");
      const read = harvesterArguments(`quiet ${line} ro`) as Record<string, Record<string, string>>;
      for (const [a, b, text] of entries) assert.equal(read[a]![b], text);
    }),
  );
});

test("a key said n times is a list of n, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z0-9:.]{1,8}$/), { minLength: 2 }), (values) => {
      const read = harvesterArguments(values.map((value) => `harvester.install.x=${value}`).join(" "));
      assert.deepEqual((read.install as { x: string[] }).x, values);
    }),
  );
});

test("any line is read without an error", () => {
  const piece = fc.constantFrom("harvester", ".", "=", '"', " ", "a", "__proto__", "constructor", "toString", "b");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      harvesterArguments(pieces.join(""));
      assert.equal(({} as Record<string, unknown>).a, undefined);
    }),
  );
});
