import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import { formatCheck, formatThatCounts } from "./string-formats.ts";

const cases: [format: string, good: string[], bad: string[]][] = [
  [
    "date-time",
    ["2026-01-02T03:04:05Z", "2024-02-29t00:00:00.5-07:00", "2026-12-31T23:59:60Z"],
    [
      ...["2026-02-29T00:00:00Z", "2026-01-02", "2026-01-02T24:00:00Z", "2026-13-01T00:00:00Z"],
      ...["2026-01-02T03:60:00Z", "2026-01-02T03:04:61Z"],
    ],
  ],
  [
    "date",
    ["2000-02-29", "2026-01-01", "2026-12-31"],
    ["1900-02-29", "2026-1-1", "2026-00-10", "2026-13-01", "2026-01-00"],
  ],
  ["duration", ["5m", "1h30m", "-1.5s", "0", "3 days", "1h 30m"], ["", "5", "m5", "5 years"]],
  [
    "ipv4",
    ["10.0.0.1", "010.0.0.1", `${"0".repeat(248)}10.0.0.1`],
    ["10.0.0.256", "::1", `${"0".repeat(249)}10.0.0.1`],
  ],
  ["ipv6", ["::1", "fd00::"], ["10.0.0.1", "fe80::1%eth0"]],
  [
    "cidr",
    ["10.0.0.0/8", "::/0", "10.0.0.1/32", "::1/128", "010.0.0.0/8"],
    ["10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/08"],
  ],
  [
    "mac",
    ["00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7", "001b44113ab7"],
    ["00:1b:44:11:3a", "00:1b-44:11:3a:b7"],
  ],
  ["uuid", ["00000000-0000-4000-8000-000000000000"], ["00000000-0000-4000-8000"]],
  ["uuid4", ["00000000-0000-4000-8000-000000000000"], ["00000000-0000-3000-8000-000000000000"]],
  ["byte", ["aGk=", "aA==", "aGkh"], ["", "aGk", "a b=", "a===", "===="]],
  ["hostname", ["a.example.org", "a-b"], ["-a", "", "10.0.0.1", "a-b-c"]],
  ["uri", ["https://example.org/a", "urn:x"], ["no uri", "a/b"]],
  ["email", ["a@b.c", "A B <a.b@example.org>"], ["a", "mailto:a@b.c", "a@", "a b@c.d"]],
  ["isbn", ["0321751043", "978-0321751041"], ["0321751044", "", "978-0321751042"]],
  ["isbn10", ["0-8044-2957-X"], ["978-0321751041", "0-8044-2957-1", "X804429570"]],
  ["isbn13", ["978-0321751041"], ["0321751043"]],
  [
    "creditcard",
    ["4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005"],
    ["4111111111111112", "0000000000000000"],
  ],
  ["ssn", ["123-45-6789"], ["123456789", "12-345-6789"]],
  ["rgbcolor", ["rgb(1, 2,255)"], ["rgb(1,2,256)"]],
  ["hexcolor", ["#fff", "A0b1C2"], ["#ffff", "#ggg"]],
  ["password", ["", "anything"], []],
  ["k8s-short-name", ["a-b", "a".repeat(63)], ["A", "a.b", "a".repeat(64)]],
  ["k8s-long-name", ["a.b-c", "a".repeat(253)], ["a..b", "A", "a".repeat(254)]],
];

for (const [format, good, bad] of cases)
  test(`format ${format}`, () => {
    const check = formatCheck(format);
    for (const text of good) assert.equal(check?.(text), true, text);
    for (const text of bad) assert.equal(check?.(text), false, text);
  });

test("a text of many thousand letters states no duration", () => {
  const almost = (letters: number): string => `3 weeks${" ".repeat(letters - 7)}`;
  assert.equal(formatCheck("duration")?.(almost(10_000)), true);
  assert.equal(formatCheck("duration")?.(almost(10_001)), false);
});

test("a format counts for values of its type alone", () => {
  const counts: [format: string, types: (string | undefined)[]][] = [
    ["int32", ["integer"]],
    ["int64", ["integer"]],
    ["float", ["number"]],
    ["double", ["number"]],
    ["date-time", ["string", undefined]],
    ["k8s-short-name", ["string", undefined]],
    ["no-such-format", []],
  ];
  for (const [format, types] of counts)
    for (const type of ["integer", "number", "string", "boolean", "object", undefined])
      assert.equal(formatThatCounts(type, format), types.includes(type) ? format : undefined, `${type} ${format}`);
  assert.equal(formatThatCounts("string", undefined), undefined);
});

test("a format that nobody knows is not checked", () => {
  assert.equal(formatCheck("no-such-format"), undefined);
});

const hostile: [format: string, text: (n: number) => string][] = [
  ["email", (n) => "a".repeat(n)],
  ["email", (n) => "a. ".repeat(n)],
  ["email", (n) => "\u00a0".repeat(n)],
  ["email", (n) => '"a"'.repeat(n)],
  ["duration", (n) => "1".repeat(n)],
  ["ipv4", (n) => `${"0".repeat(n)}x`],
];
for (const [format, text] of hostile)
  test(`twice the text costs no more than 2.5 times the work: what is almost of format ${format}, ${text(1)}`, () => {
    const growth = cpuGrowth(
      (n) => {
        const almost = text(n);
        return () => assert.equal(formatCheck(format)?.(almost), false);
      },
      500,
      1_000_000,
    );
    assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
  });

test("what is base64 is what the pattern of its groups takes", () => {
  const byte = formatCheck("byte")!;
  const pattern = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
  const text = fc.string({ unit: fc.constantFrom(..."Aa0+/=-\n"), maxLength: 12 });
  for (const one of ["", "=", "==", "====", "A===", "AB==", "ABC=", "ABCD", "ABCDE", "AB==ABCD", "AB=C"])
    assert.equal(byte(one), pattern.test(one), one);
  fc.assert(fc.property(text, (given) => assert.equal(byte(given), pattern.test(given))));
});
