import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ItemTexts } from "./item-texts.ts";

test("each item has its JSON, whether it is known or not, and no more letters are held than may be", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { minLength: 1 }),
      fc.array(fc.nat(), { maxLength: 50 }),
      fc.nat(200),
      (values, asked, most) => {
        const texts = new ItemTexts(most);
        for (const n of asked) {
          const item = values[n % values.length];
          assert.equal(texts.of(item), JSON.stringify(item));
          assert.ok(texts.chars <= most);
        }
      },
    ),
  );
});

/** An object that counts how often it is written. */
function counted(name: string) {
  const item = { times: 0, toJSON: () => ({ name, times: ++item.times }) };
  return item;
}

test("an item is written once while there is room, and what was asked for least recently makes room", () => {
  const [a, b, c] = [counted("a"), counted("b"), counted("c")];
  const texts = new ItemTexts(2 * JSON.stringify({ name: "a", times: 1 }).length);
  for (const item of [a, b, a, b, a, c]) texts.of(item);
  assert.deepEqual([a.times, b.times, c.times], [1, 1, 1]);
  texts.of(a);
  assert.equal(a.times, 1, "it was asked for after b");
  texts.of(b);
  assert.equal(b.times, 2);
});
