import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import { Pattern } from "./pattern.ts";

const cases: [pattern: string, matches: string[], others: string[]][] = [
  ["^(?i)[a-z]+$", ["abc", "ABC"], ["a1", ""]],
  ["a(?i)b|c", ["ab", "aB", "C"], ["Ab"]],
  ["(x(?i)y)z", ["xyz", "xYz"], ["xyZ"]],
  ["^a(?i)x(?-i)b$", ["aXb"], ["aXB"]],
  ["^[[:alpha:]_-]+$", ["a_-Z"], ["1"]],
  ["^[[:^digit:]\\d]$", ["a", "1"], [""]],
  ["\\Aab\\z", ["ab"], ["ab\n", "xab"]],
  ["^(?P<word>a+)(?<other>b)(?:c)$", ["aabc"], ["b"]],
  ["^[]a]$", ["]", "a"], ["b"]],
  ["^[^]a]$", ["b", "\n"], ["]", "a"]],
  ["^a\\-b\\_c$", ["a-b_c"], ["abc"]],
  ["^[\\w.-]+$", ["a.b-c"], ["a b", "é"]],
  ["^\\s$", ["\t", " "], ["\v", "\u00a0"]],
  ["^a{2,3}$", ["aa", "aaa"], ["a{2,3}", "aaaa"]],
  ["^a{0}b{2,}$", ["bb", "bbbb"], ["b", "abb"]],
  ["^a{$", ["a{"], ["a"]],
  ["^a{,2}$", ["a{,2}"], ["aa"]],
  ["^[💧]$", ["💧"], ["a"]],
  ["^[^a].$", ["💧💧", "b\r"], ["a💧", "b\n"]],
  ["(?s)^a.b$", ["a\nb"], ["ab"]],
  ["(?m)^b$", ["a\nb\nc"], ["ab"]],
  ["^\\x{1F4A7}\\pL\\172$", ["💧az"], ["a", "💧1z"]],
  ["^\\p{Greek}\\P{Lu}\\p{^Lu}$", ["αaa"], ["aaa", "αAa"]],
  ["^\\Qa.b\\E+$", ["a.b", "a.bb"], ["axb", "a.ba.b"]],
  ["(?i)^[^k]s$", ["aſ"], ["\u212as", "ks"]],
  ["\\bfoo\\b", ["a foo.", "foo"], ["foot", "éfoo1"]],
  ["a\\Bb", ["ab"], ["a b"]],
  ["^(a|b*)*$", ["abba", ""], ["c"]],
  ["^*$", ["", "a"], []],
  ["a||b", ["", "x"], []],
];
for (const [source, matches, others] of cases)
  test(`RE2: ${source}`, () => {
    const pattern = new Pattern(source);
    for (const text of matches) assert.ok(pattern.test(text), text);
    for (const text of others) assert.ok(!pattern.test(text), text);
  });

const refused: [pattern: string, message: string][] = [
  ["(", "missing closing ): `(`"],
  ["a)b", "unexpected ): `a)b`"],
  ["x[a", "missing closing ]: `[a`"],
  ["[b-a]", "invalid character class range: `b-a`"],
  ["[[:nope:]]", "invalid character class range: `[:nope:]`"],
  ["\\p{Nope}", "invalid character class range: `\\p{Nope}`"],
  ["a**", "invalid nested repetition operator: `**`"],
  ["a{2}{3}x", "invalid nested repetition operator: `{2}{3}`"],
  ["a|*", "missing argument to repetition operator: `*`"],
  ["(?i)+?", "missing argument to repetition operator: `+?`"],
  ["a{1001}", "invalid repeat count: `{1001}`"],
  ["(a{100}){100}", "invalid repeat count: `{100}`"],
  ["(a)\\1", "invalid escape sequence: `\\1`"],
  ["\\x{110000}", "invalid escape sequence: `\\x{110000`"],
  ["\\C", "invalid escape sequence: `\\C`"],
  ["a\\", "trailing backslash at end of expression: ``"],
  ["a(?=b)", "invalid or unsupported Perl syntax: `(?=`"],
  ["(?<!a)b", "invalid named capture: `(?<!a)b`"],
  ["(?P<a", "invalid named capture: `(?P<a`"],
  ["(?i", "invalid or unsupported Perl syntax: `(?i`"],
  [
    `${"(".repeat(1100)}a${")".repeat(1100)}`,
    `expression nests too deeply: \`${"(".repeat(1100)}a${")".repeat(1100)}\``,
  ],
];
for (const [source, message] of refused)
  test(`Go says of ${source.slice(0, 20)} what is wrong`, () => {
    assert.throws(() => new Pattern(source), { name: "SyntaxError", message });
  });

test("the leftmost match is found, and of those the one that the pattern prefers", () => {
  assert.equal(new Pattern("a|ab").find("xab"), "a");
  assert.equal(new Pattern("ab|a").find("xab"), "ab");
  assert.equal(new Pattern("a+?").find("aaa"), "a");
  assert.equal(new Pattern("(?U)a+").find("aaa"), "a");
  assert.equal(new Pattern("b+").find("aaa"), undefined);
  assert.deepEqual(new Pattern("a*").all("baaac"), ["", "aaa", ""]);
  assert.deepEqual(new Pattern("").all("💧b"), ["", "", ""]);
  assert.deepEqual(new Pattern(".").all("💧b", 1), ["💧"]);
  assert.deepEqual(new Pattern("\\b|^a").all("a-b"), ["", "", "", ""]);
});

test("twice the text costs no pattern more than 2.5 times the work", () => {
  // JavaScript's own expressions take twice as long for each letter more.
  for (const source of [
    "^(a+)+$",
    "(?i)^(?:a|a)*b$",
    "^(a{1,20}){1,20}$",
    "((((a+)+)+)+)+\\pN$",
    "^(\\w{0,61}a?)*!$",
  ]) {
    const growth = cpuGrowth((n) => {
      const [pattern, text] = [new Pattern(source), `${"a".repeat(n)}?`];
      return () => assert.equal(pattern.test(text), false);
    }, 2_000);
    assert.ok(growth <= MAX_GROWTH, `${source}: ${growth.toFixed(2)}`);
  }
});

test("what both dialects have is found as JavaScript finds it", () => {
  const source = fc
    .array(fc.constantFrom("a", "b", "[ab]", "(a|b)", "(?:ab|a)", ".", "\\b", "$"), { minLength: 1, maxLength: 5 })
    .chain((parts) =>
      fc
        .array(fc.constantFrom("", "", "*", "+?", "?", "{1,2}"), { minLength: parts.length, maxLength: parts.length })
        .map((counts) => parts.map((part, i) => (/^(\\b|\$)$/.test(part) ? part : part + counts[i]!)).join("")),
    );
  const text = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 8 });
  fc.assert(
    fc.property(source, text, (pattern, text) => {
      assert.equal(new Pattern(pattern).find(text), new RegExp(pattern).exec(text)?.[0]);
    }),
  );
});

test("a quoted text matches itself only, whatever it is", () => {
  const printable = fc.string({ unit: fc.constantFrom(..."aZ09 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~💧") });
  fc.assert(
    fc.property(printable, printable, (text, other) => {
      const quoted = new Pattern(`^${text.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")}$`);
      assert.ok(quoted.test(text));
      assert.equal(quoted.test(other), text === other);
    }),
  );
});

test("any text is a pattern or is refused with a SyntaxError", () => {
  const pieces = fc.constantFrom(
    ..."( ) [ ] { } \\ a ^ $ - * | (?i) (?P<n> [:alpha:] \\z \\1 \\x{ 1 , 2} \\p \\Q 💧".split(" "),
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      try {
        new Pattern(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
    }),
  );
});
