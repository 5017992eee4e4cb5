import assert from "node:assert/strict";
import { test } from "node:test";
import { dnsLabel, dnsSubdomain, labelValue, pathSegment, portName, qualifiedName } from "./object-names.ts";

const long = (length: number): string => "a".repeat(length);

/** The rule, names that it lets be, and of others what is wrong with them, by its first words. */
const RULES: [rule: typeof dnsLabel, right: string[], wrong: [name: string, ...said: RegExp[]][]][] = [
  [
    dnsLabel,
    ["a", "0-a", long(63)],
    [
      [long(64), /^must be no more than 63 characters/],
      ["a.b", /^must not contain dots/],
      ["A", /^a lowercase RFC 1123 label/],
      [`${long(64)}.b`, /^must be no more/, /^must not contain dots/],
    ],
  ],
  [
    dnsSubdomain,
    ["a", "a.b-c.0", long(253)],
    [
      [long(254), /^must be no more than 253 characters/],
      ["a..b", /^a lowercase RFC 1123 subdomain/],
    ],
  ],
  [
    pathSegment,
    ["a:b", "...", ""],
    [
      [".", /^may not be '\.'/],
      ["..", /^may not be '\.\.'/],
      ["a/b%c", /^may not contain '\/'/, /^may not contain '%'/],
    ],
  ],
  [
    qualifiedName,
    ["a", "A.b_c", "example.com/a", `${long(253)}/${long(63)}`],
    [
      ["a/b/c", /^a valid label key must consist/],
      ["/b", /^prefix part must be non-empty/],
      ["A/b", /^prefix part a lowercase RFC 1123 subdomain/],
      ["a/", /^name part must be non-empty/, /^name part must consist/],
      [long(64), /^name part must be no more than 63 bytes/],
      ["-a", /^name part must consist/],
    ],
  ],
  [
    labelValue,
    ["", "a", "A.b_c-0", long(63)],
    [
      [long(64), /^must be no more than 63 bytes/],
      ["a-", /^a valid label must be an empty string or consist/],
    ],
  ],
  [
    portName,
    ["http", "a", "9a-b", long(15)],
    [
      [long(16), /^must be no more than 15 characters/],
      ["a_b", /^must contain only alpha-numeric/],
      ["80", /^must contain at least one letter/],
      ["a--b", /^must not contain consecutive hyphens/],
      ["-a", /^must not begin or end with a hyphen/],
      ["a-", /^must not begin or end with a hyphen/],
    ],
  ],
];

for (const [rule, right, wrong] of RULES)
  test(`names by the rule ${rule.name} are let be, and of others all that is wrong is said`, () => {
    for (const name of right) assert.deepEqual(rule(name), [], name);
    for (const [name, ...said] of wrong) {
      const found = rule(name);
      assert.equal(found.length, said.length, `${name}: ${found.join("; ")}`);
      for (const [at, words] of said.entries()) assert.match(found[at]!, words);
    }
  });
