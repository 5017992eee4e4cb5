import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type QuantityFormat,
  quantityNumber,
} from "./quantity.ts";

const canonical = (text: string): string => formatQuantity(parseQuantity(text));

test("the canonical form of a text is what it is written as when read", () => {
  const suffix = fc.constantFrom(
    "",
    "n",
    "u",
    "m",
    "k",
    "K",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "Pi",
    "Ei",
    "e3",
  );
  fc.assert(
    fc.property(fc.integer({ min: -5, max: 2000 }), suffix, (amount, unit) => {
      const text = `${amount}${unit}`;
      if (unit === "K") assert.throws(() => canonicalQuantity(text), RangeError);
      else assert.equal(canonicalQuantity(text), canonical(text));
    }),
    { numRuns: 1000 },
  );
  for (const text of ["00", "01", "0.5", "+1", "1."]) assert.equal(canonicalQuantity(text), canonical(text));
  assert.throws(() => canonicalQuantity("1\n"), RangeError);
});

test("quantities become the form the API server stores", () => {
  const cases: [string, string][] = [
    ["0", "0"],
    ["0Ki", "0"],
    ["1024", "1024"],
    ["1024Ki", "1Mi"],
    ["0.5Gi", "512Mi"],
    ["0.5Ki", "512"],
    ["1.5Gi", "1536Mi"],
    ["1000Mi", "1000Mi"],
    ["0.1", "100m"],
    ["1500m", "1500m"],
    ["2000m", "2"],
    ["1000", "1k"],
    ["1000k", "1M"],
    ["+5", "5"],
    ["-0.5", "-500m"],
    [".5", "500m"],
    ["1.", "1"],
    ["1e3", "1e3"],
    ["12E6", "12e6"],
    ["1e4", "10e3"],
    ["100e-3", "100e-3"],
    ["1E", "1E"],
    ["1Ei", "1Ei"],
    ["1.1Ki", "1126400m"],
  ];
  for (const [text, expected] of cases) assert.equal(canonical(text), expected, text);
});

test("what is finer than a billionth is rounded away from zero, what is too large is capped", () => {
  assert.equal(canonical("0.0000000001"), "1n");
  assert.equal(canonical("-0.0000000001"), "-1n");
  assert.equal(canonical("1e-9999"), "1e-9");
  assert.equal(canonical("9223372036854775808"), "9223372036854775807");
  assert.equal(canonical("1e9999"), "9223372036854775807");
});

test("what is no quantity is refused and named", () => {
  for (const text of ["", ".", "-", "1 Gi", "1gi", "1K", "1e", "1mi", "0x10", "1.2.3", "Mi", "1e3Mi", " 1"]) {
    assert.throws(
      () => parseQuantity(text),
      new RegExp(`^RangeError: quantity ${JSON.stringify(text).replaceAll(".", "\\.")}:`),
    );
  }
  assert.throws(() => parseQuantity("9".repeat(1000)), RangeError);
});

test("amounts compare across notations", () => {
  const order = ["-1", "0", "1m", "999m", "1", "1Ki", "1100", "1M", "1Mi"].map(parseQuantity);
  for (const [i, a] of order.entries()) {
    for (const [j, b] of order.entries()) assert.equal(Math.sign(compareQuantities(a, b)), Math.sign(i - j));
  }
  assert.equal(compareQuantities(parseQuantity("1024Ki"), parseQuantity("1Mi")), 0);
  assert.equal(quantityNumber(parseQuantity("1536Mi")), 1536 * 1024 * 1024);
  assert.equal(quantityNumber(parseQuantity("-250m")), -0.25);
});

test("a quantity keeps its amount when written and read, and written again it is the same text", () => {
  const nano = fc.bigInt({ min: -(2n ** 63n - 1n), max: 2n ** 63n - 1n });
  const scale = fc.constantFrom(1n, 1_000_000n, 1_000_000_000n);
  const format = fc.constantFrom<QuantityFormat>("BinarySI", "DecimalSI", "DecimalExponent");
  fc.assert(
    fc.property(nano, scale, format, (amount, by, notation) => {
      const text = formatQuantity({ nano: amount * by, format: notation });
      assert.equal(parseQuantity(text).nano, amount * by);
      // A whole number without a suffix is read as decimal: 2000, written as binary, becomes 2k.
      assert.equal(formatQuantity({ nano: parseQuantity(text).nano, format: notation }), text);
      assert.equal(canonical(canonical(text)), canonical(text));
      assert.ok(!text.includes("."));
    }),
  );
});
