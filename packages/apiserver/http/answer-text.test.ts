import assert from "node:assert/strict";
import { test } from "node:test";
import { dump, load } from "js-yaml";
import { type TextForm, textsOf } from "./answer-text.ts";
import { ItemTexts } from "./item-texts.ts";

const object = (i: number) => ({
  metadata: { name: `m${i}` },
  data: { text: "a\n b\n", "items: []": '"items":[]' },
  n: [i],
});
const listOf = (n: number, name: string) => ({
  kind: "List",
  metadata: { resourceVersion: "1" },
  [name]: Array.from({ length: n }, (_, i) => object(i)),
});
const WHOLE: Record<TextForm, (body: unknown) => string> = {
  json: (body) => JSON.stringify(body),
  indented: (body) => `${JSON.stringify(body, null, 2)}\n`,
  yaml: (body) => dump(body, { sortKeys: true, seqNoIndent: true, lineWidth: -1, noRefs: true, quoteStyle: "double" }),
};

for (const form of ["json", "indented", "yaml"] as const)
  for (const name of ["items", "rows"])
    test(`the pieces of a long list are the text of the whole: ${form}, ${name}`, () => {
      for (const n of [0, 200, 201, 5000]) {
        const list = listOf(n, name);
        const pieces = [...textsOf(list, form)];
        assert.equal(pieces.join(""), WHOLE[form](list));
        assert.ok(n < 5000 ? pieces.length === 1 : pieces.length > 1, `${n} in ${pieces.length} pieces`);
      }
    });

test("a list of what was listed before has the text of the whole, with what was replaced meanwhile; rows are not kept", () => {
  const known = new ItemTexts();
  const list = listOf(300, "items");
  const items = list.items as object[];
  for (const change of [() => {}, () => {}, () => items.splice(7, 1, { replaced: true })]) {
    change();
    assert.equal([...textsOf(list, "json", known)].join(""), JSON.stringify(list));
  }
  const { chars } = known;
  assert.ok(chars > 0);
  for (const other of [listOf(300, "rows"), listOf(200, "items")]) [...textsOf(other, "json", known)].join("");
  [...textsOf(list, "indented", known)].join("");
  assert.equal(known.chars, chars);
});

test("an object is one piece, and one that is nested too deep is written without spaces", () => {
  assert.deepEqual([...textsOf(object(1), "json")], [JSON.stringify(object(1))]);
  let deep: unknown = Array.from({ length: 40_000 }, () => 1);
  for (let level = 0; level < 300; level++) deep = [deep];
  assert.deepEqual([...textsOf(deep, "indented")], [JSON.stringify(deep)]);
  const list = { items: Array.from({ length: 201 }, (_, i) => (i === 0 ? deep : i)) };
  assert.deepEqual(load([...textsOf(list, "yaml")].join(""), { maxDepth: 1000 }), list);
});
