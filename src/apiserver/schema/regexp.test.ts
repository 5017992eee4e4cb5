import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromRe2 } from "./regexp.ts";

const cases: [pattern: string, matches: string[], others: string[]][] = [
  ["^(?i)[a-z]+$", ["abc", "ABC"], ["a1", ""]],
  ["a(?i)b|c", ["ab", "aB"], ["Ab"]],
  ["(x(?i)y)z", ["xyz", "xYz"], ["xyZ"]],
  ["^[[:alpha:]_-]+$", ["a_-Z"], ["1"]],
  ["\\Aab\\z", ["ab"], ["ab\n", "xab"]],
  ["^(?P<word>a+)$", ["aa"], ["b"]],
  ["^[]a]$", ["]", "a"], ["b"]],
  ["^[^]a]$", ["b"], ["]", "a"]],
  ["^a\\-b\\_c$", ["a-b_c"], ["abc"]],
  ["^[\\w.-]+$", ["a.b-c"], ["a b"]],
  ["^a{2}$", ["aa"], ["a{2}"]],
  ["^a{$", ["a{"], ["a"]],
  ["^[💧]$", ["💧"], ["a"]],
  ["^\\x{1F4A7}\\pL$", ["💧a"], ["a", "💧1"]],
];

for (const [pattern, matches, others] of cases)
  test(`RE2: ${pattern}`, () => {
    const regexp = fromRe2(pattern);
    for (const text of matches) assert.ok(regexp.test(text), text);
    for (const text of others) assert.ok(!regexp.test(text), text);
  });

for (const pattern of ["a(?=b)", "(?<!a)b", "(a)\\1", "(", "[b-a]", "[[:nope:]]", "a**"])
  test(`RE2 has no ${pattern}`, () => {
    assert.throws(() => fromRe2(pattern), SyntaxError);
  });

test("a pattern made to backtrack does not hold up the server", () => {
  for (const pattern of ["^(a+)+$", "^(?:a|a)*b$", "^([a-z0-9]([-a-z0-9]*[a-z0-9])?)*!$"]) {
    const before = process.cpuUsage().user;
    assert.equal(fromRe2(pattern).test(`${"a".repeat(40)}?`), false);
    // Backtracking would take hours for this text; the linear engine takes less than a millisecond.
    assert.ok(process.cpuUsage().user - before < 5_000_000);
  }
});

test("a quoted text matches itself only, whatever it is", () => {
  const printable = fc.string({ unit: fc.constantFrom(..."aZ09 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") });
  fc.assert(
    fc.property(printable, printable, (text, other) => {
      const quoted = fromRe2(`^${text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")}$`);
      assert.ok(quoted.test(text));
      assert.equal(quoted.test(other), text === other);
    }),
  );
});

test("any pattern is translated or refused with a SyntaxError", () => {
  const pieces = fc.constantFrom(
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "a",
    "^",
    "$",
    "(?i)",
    "(?P<n>",
    "[:alpha:]",
    "-",
    "*",
    "|",
    "\\z",
    "\\1",
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      try {
        fromRe2(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
    }),
  );
});
