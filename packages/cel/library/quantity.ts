/** Kubernetes' quantity functions (`resource.Quantity`), exact to a billionth of a unit. */
import type { Functions } from "../functions.ts";
import type { Type } from "../types.ts";
import { CelError, Custom } from "../values.ts";

const NANO = 1_000_000_000n;

/** Upstream takes any number of digits; these are enough to be read soon. */
const MAX_DIGITS = 10_000;
/** The most that a number with a binary suffix may be, in billionths. */
const MAX_BINARY = ((1n << 63n) - 1n) * NANO;

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

const TYPE: Type = { kind: "object", name: "kubernetes.Quantity", of: [] };

/** A number of billionths. `whole`: upstream holds it as an integer. */
class Quantity extends Custom {
  readonly type = TYPE;
  readonly nanos: bigint;
  readonly whole: boolean;
  constructor(nanos: bigint, whole: boolean) {
    super();
    this.nanos = nanos;
    this.whole = whole && nanos % NANO === 0n && nanos / NANO < 1n << 63n && nanos / NANO >= -(1n << 63n);
  }
  equals(other: Quantity): boolean {
    return this.nanos === other.nanos;
  }
}

/** Adds Kubernetes' `quantity` library. */
export function registerQuantities(functions: Functions): void {
  const name = "kubernetes.Quantity";
  const pair = `${name}.(${name})`;
  functions
    .type(TYPE)
    .add("quantity", "string_to_quantity", `(string) -> ${name}`, (text: string) => {
      const parsed = parseQuantity(text);
      if (parsed === undefined) throw new CelError(quantityError(text));
      return new Quantity(parsed, isWhole(text));
    })
    .add("isQuantity", "is_quantity_string", "(string) -> bool", (text: string) => parseQuantity(text) !== undefined)
    .add("sign", "quantity_sign", `(${name}) -> int`, (q: Quantity) => (q.nanos > 0n ? 1n : q.nanos < 0n ? -1n : 0n))
    .add("isInteger", "quantity_is_integer", `${name}.() -> bool`, ({ whole }: Quantity) => whole)
    .add("asInteger", "quantity_get_int", `${name}.() -> int`, ({ nanos, whole }: Quantity) => {
      if (!whole) throw new CelError("cannot convert value to integer");
      return nanos / NANO;
    })
    .add("asApproximateFloat", "quantity_get_float", `${name}.() -> double`, (q: Quantity) => Number(q.nanos) / 1e9)
    .add(
      "isGreaterThan",
      "quantity_is_greater_than",
      `${pair} -> bool`,
      (a: Quantity, b: Quantity) => a.nanos > b.nanos,
    )
    .add("isLessThan", "quantity_is_less_than", `${pair} -> bool`, (a: Quantity, b: Quantity) => a.nanos < b.nanos)
    .add("compareTo", "quantity_compare_to", `${pair} -> int`, (a: Quantity, b: Quantity) =>
      a.nanos > b.nanos ? 1n : a.nanos < b.nanos ? -1n : 0n,
    )
    .add(
      "add",
      "quantity_add",
      `${pair} -> ${name}`,
      (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos, a.whole && b.whole),
    )
    .add(
      "add",
      "quantity_add_int",
      `${name}.(int) -> ${name}`,
      (a: Quantity, b: bigint) => new Quantity(a.nanos + b * NANO, a.whole),
    )
    .add(
      "sub",
      "quantity_sub",
      `${pair} -> ${name}`,
      (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos, a.whole && b.whole),
    )
    .add(
      "sub",
      "quantity_sub_int",
      `${name}.(int) -> ${name}`,
      (a: Quantity, b: bigint) => new Quantity(a.nanos - b * NANO, a.whole),
    );
}

/** Whether a quantity is held as an integer upstream: it is written in few digits, and no part of one is. */
function isWhole(text: string): boolean {
  const [, whole = "", fraction = "", suffix = ""] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/s.exec(text)!;
  const digits = Math.max(whole.length, 1);
  const power = SUFFIXES[suffix]?.[1] ?? Number(suffix.slice(1));
  if (suffix.endsWith("i")) return fraction === "" && digits + Math.floor((power * 3) / 10) <= 14;
  return digits + fraction.length <= 18 && power >= fraction.length;
}

function quantityError(text: string): string {
  if (text === "" || !/^[-+]?[0-9.]+([eEinumkKMGTP]*[-+]?[0-9]*)$/.test(text))
    return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  return "unable to parse quantity's suffix";
}

/** Billionths of a quantity such as `1.5Gi`, `100m`, `2e3`; rounded up beyond that. Undefined when it is none. */
export function parseQuantity(text: string): bigint | undefined {
  const parts = /^([+-]?)(\d*(?:\.\d*)?)(?:([numkMGTPE]?|[KMGTPE]i)|[eE]([+-]?\d{1,3}))$/.exec(text);
  if (!parts || text === "") return undefined;
  const [, sign, digits = "", suffix = "", exponent] = parts;
  const [base, power] = exponent === undefined ? (SUFFIXES[suffix] ?? [10n, 0]) : ([10n, Number(exponent)] as const);
  const [whole = "", fraction = ""] = digits.split(".");
  if (whole.length + fraction.length > MAX_DIGITS) return undefined;
  let numerator = BigInt(`${whole}${fraction}` || "0") * NANO;
  let denominator = 10n ** BigInt(fraction.length);
  if (power >= 0) numerator *= base ** BigInt(power);
  else denominator *= base ** BigInt(-power);
  const rounded = (numerator + denominator - 1n) / denominator;
  const nanos = base === 2n && rounded > MAX_BINARY ? MAX_BINARY : rounded;
  return sign === "-" ? -nanos : nanos;
}
