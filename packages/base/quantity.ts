/** An amount as the Kubernetes API writes it (`128Mi`, `500m`, `1e3`): exact to a billionth, with the notation it came in. */
export interface Quantity {
  /** Billionths. */
  nano: bigint;
  format: QuantityFormat;
}

export type QuantityFormat = "BinarySI" | "DecimalSI" | "DecimalExponent";

const DECIMAL: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const SUFFIXES: ReadonlyMap<number, string> = new Map([...DECIMAL].map(([suffix, power]) => [power, suffix]));
const BINARY: readonly string[] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const ONE = 1_000_000_000n;
/** The API caps amounts at the largest signed 64-bit integer instead of refusing them. */
const MAX = (2n ** 63n - 1n) * ONE;
const MAX_TEXT = 128;

/**
 * Reads a quantity by the grammar of `k8s.io/apimachinery/pkg/api/resource`: what is finer than a billionth is rounded away
 * from zero, what exceeds 2⁶³−1 is capped. Throws a `RangeError` that names the text.
 */
export function parseQuantity(text: string): Quantity {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,4})?$/.exec(text);
  const [, sign, whole = "", fraction = "", suffix = ""] = match ?? [];
  if (match === null || text.length > MAX_TEXT || whole + fraction === "") {
    const shown = JSON.stringify(text.slice(0, MAX_TEXT));
    throw new RangeError(`quantity ${shown}: not a number with an optional suffix such as m, k, Mi, Gi or e3`);
  }
  const { format, binary, power } = scale(suffix);
  const digits = BigInt(whole + fraction) * 1024n ** BigInt(binary);
  const magnitude = shift(digits, power + 9 - fraction.length);
  const capped = magnitude > MAX ? MAX : magnitude;
  return { nano: sign === "-" ? -capped : capped, format };
}

/** Up to three digits and a suffix, in the form in which amounts are stored. */
const PLAIN = /^(?:0|[1-9]\d{0,2}(?:[numkMGTP]|[KMGTP]i)?)$/;

/**
 * The canonical form of a quantity's text, as `formatQuantity(parseQuantity(text))`. Most amounts are written in it, and are not taken apart.
 * Throws a `RangeError` that names the text.
 */
export function canonicalQuantity(text: string): string {
  return PLAIN.test(text) ? text : formatQuantity(parseQuantity(text));
}

/** Below 0, 0 or above 0 as `a` is less than, equal to or more than `b`, whatever their notations. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

/** The amount as a JavaScript number, approximate above 2⁵³. */
export function quantityNumber(quantity: Quantity): number {
  const whole = quantity.nano / ONE;
  return Number(whole) + Number(quantity.nano % ONE) / 1e9;
}

/**
 * Writes the canonical form the API server stores: no fraction, the largest suffix that leaves none. Binary amounts under 1024, or with
 * a fraction, are written in decimal.
 */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const sign = nano < 0n ? "-" : "";
  const magnitude = nano < 0n ? -nano : nano;
  if (format === "BinarySI" && magnitude >= 1024n * ONE && magnitude % ONE === 0n)
    return sign + binaryText(magnitude / ONE);
  let [value, power] = [magnitude, -9];
  while (power < 18 && value % 1000n === 0n) [value, power] = [value / 1000n, power + 3];
  if (format === "DecimalExponent") return power === 0 ? `${sign}${value}` : `${sign}${value}e${power}`;
  return `${sign}${value}${SUFFIXES.get(power) ?? ""}`;
}

function binaryText(whole: bigint): string {
  let [value, step] = [whole, 0];
  while (step < BINARY.length && value % 1024n === 0n) [value, step] = [value / 1024n, step + 1];
  return `${value}${step === 0 ? "" : BINARY[step - 1]}`;
}

function scale(suffix: string): { format: QuantityFormat; binary: number; power: number } {
  const decimal = DECIMAL.get(suffix);
  if (decimal !== undefined) return { format: "DecimalSI", binary: 0, power: decimal };
  const binary = BINARY.indexOf(suffix) + 1;
  if (binary > 0) return { format: "BinarySI", binary, power: 0 };
  return { format: "DecimalExponent", binary: 0, power: Number(suffix.slice(1)) };
}

/** `digits` × 10^`power`, rounded up to a whole number. */
function shift(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}
