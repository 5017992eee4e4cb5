/** Kubernetes' quantity functions (`resource.Quantity`), exact to a billionth of a unit. */
import type { Environment } from "@marcbachmann/cel-js";

const NANO = 1_000_000_000n;

const SUFFIXES: Readonly<Record<string, readonly [base: bigint, exponent: number]>> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  "": [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

/** A number of billionths. */
class Quantity {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export function registerQuantities(environment: Environment): void {
  const of = (value: Quantity | bigint): bigint => (typeof value === "bigint" ? value * NANO : value.nanos);
  environment
    .registerType("Quantity", Quantity)
    .registerFunction("quantity(string): Quantity", (text: string) => {
      const parsed = parseQuantity(text);
      if (parsed === undefined)
        throw new TypeError(
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        );
      return new Quantity(parsed);
    })
    .registerFunction("isQuantity(string): bool", (text: string) => parseQuantity(text) !== undefined)
    .registerFunction("Quantity.sign(): int", (q: Quantity) => (q.nanos > 0n ? 1n : q.nanos < 0n ? -1n : 0n))
    .registerFunction("Quantity.isInteger(): bool", (q: Quantity) => q.nanos % NANO === 0n)
    .registerFunction("Quantity.asInteger(): int", (q: Quantity) => {
      if (q.nanos % NANO !== 0n) throw new RangeError("cannot convert value to integer");
      return q.nanos / NANO;
    })
    .registerFunction("Quantity.asApproximateFloat(): double", (q: Quantity) => Number(q.nanos) / 1e9)
    .registerFunction("Quantity.isGreaterThan(Quantity): bool", (a: Quantity, b: Quantity) => a.nanos > b.nanos)
    .registerFunction("Quantity.isLessThan(Quantity): bool", (a: Quantity, b: Quantity) => a.nanos < b.nanos)
    .registerFunction("Quantity.compareTo(Quantity): int", (a: Quantity, b: Quantity) =>
      a.nanos > b.nanos ? 1n : a.nanos < b.nanos ? -1n : 0n,
    )
    .registerOperator("Quantity == Quantity", (a: Quantity, b: Quantity) => a.nanos === b.nanos);
  for (const other of ["Quantity", "int"])
    environment
      .registerFunction(
        `Quantity.add(${other}): Quantity`,
        (a: Quantity, b: Quantity | bigint) => new Quantity(a.nanos + of(b)),
      )
      .registerFunction(
        `Quantity.sub(${other}): Quantity`,
        (a: Quantity, b: Quantity | bigint) => new Quantity(a.nanos - of(b)),
      );
}

/** Billionths of a quantity such as `1.5Gi`, `100m`, `2e3`; rounded up beyond that. Undefined when it is none. */
export function parseQuantity(text: string): bigint | undefined {
  const parts = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([numkMGTPE]?|[KMGTPE]i)|[eE]([+-]?\d{1,2}))$/.exec(text);
  if (!parts) return undefined;
  const [, sign, digits = "", suffix = "", exponent] = parts;
  const [base, power] = exponent === undefined ? (SUFFIXES[suffix] ?? [10n, 0]) : ([10n, Number(exponent)] as const);
  const [whole = "", fraction = ""] = digits.split(".");
  if (whole.length + fraction.length > 60) return undefined;
  let numerator = BigInt(`${whole}${fraction}` || "0") * NANO;
  let denominator = 10n ** BigInt(fraction.length);
  if (power >= 0) numerator *= base ** BigInt(power);
  else denominator *= base ** BigInt(-power);
  const nanos = (numerator + denominator - 1n) / denominator;
  return sign === "-" ? -nanos : nanos;
}
