import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MAX_JSON_DEPTH, syntaxErrorInPasses } from "./syntax.ts";
import { allPasses } from "./turns.ts";

const jsonSyntaxError = (text: string): string | undefined => allPasses(syntaxErrorInPasses(text, MAX_JSON_DEPTH));

const WRONG: [text: string, error: string][] = [
  ["", "unexpected end of JSON input"],
  ["{", "unexpected end of JSON input"],
  ["[1,", "unexpected end of JSON input"],
  ['{"a', "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ["text", "invalid character 'e' in literal true (expecting 'r')"],
  ["[{]", "invalid character ']' looking for beginning of object key string"],
  ["{} x", "invalid character 'x' after top-level value"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ["[1 2]", "invalid character '2' after array element"],
  ["[,]", "invalid character ',' looking for beginning of value"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
  ["-x", "invalid character 'x' in numeric literal"],
  ["1.x", "invalid character 'x' after decimal point in numeric literal"],
  ["1e+", "unexpected end of JSON input"],
  ["01", "invalid character '1' after top-level value"],
];

for (const [text, error] of WRONG)
  test(`JSON that is none: ${JSON.stringify(text)}`, () => assert.equal(jsonSyntaxError(text), error));

test("as many levels as allowed are read, one more is an error", () => {
  assert.equal(allPasses(syntaxErrorInPasses('[{"a":[1]}]', 3)), undefined);
  assert.equal(allPasses(syntaxErrorInPasses('[{"a":[1]}]', 2)), "invalid character '[' exceeded max depth");
});

test("others have their turn while a long text is read", () => {
  const passes = syntaxErrorInPasses(`[${"1,".repeat(4000)}1]`, 2);
  assert.deepEqual([passes.next().done, passes.next().done], [false, false]);
});

test("JSON has no syntax error, whatever it holds", () => {
  fc.assert(fc.property(fc.json(), (text) => assert.equal(jsonSyntaxError(text), undefined)));
});

test("a text has a syntax error exactly when it can't be parsed", () => {
  const text = fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0aeE+-.1tn l') });
  fc.assert(
    fc.property(text, (given) => {
      let parses = true;
      try {
        JSON.parse(given);
      } catch {
        parses = false;
      }
      assert.equal(jsonSyntaxError(given) === undefined, parses);
    }),
  );
});
