/** Texts as Go writes and reads them, which expressions show. */

/** A double as Go's `%g` writes it. */
export function goDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  return power >= -4 && power < 6 ? String(value) : scientific(digits, power);
}

function scientific(digits: string, power: number): string {
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** The characters that Go and CEL write by a letter. */
export const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** A text as Go's `%q` writes it: what can't be printed by its code point. */
export function goQuoted(text: string): string {
  return `"${text.replace(/[\\"]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => ESCAPES[char] ?? byCode(char.codePointAt(0)!))}"`;
}

function byCode(point: number): string {
  const [letter, digits] =
    point < 0x80 ? (["x", 2] as const) : point <= 0xffff ? (["u", 4] as const) : (["U", 8] as const);
  return `\\${letter}${point.toString(16).padStart(digits, "0")}`;
}

/** `amount / size`, exactly, for a power of ten. */
export function decimal(amount: bigint, size: bigint): string {
  const fraction = (amount % size)
    .toString()
    .padStart(size.toString().length - 1, "0")
    .replace(/0+$/, "");
  return `${amount / size}${fraction === "" ? "" : `.${fraction}`}`;
}

/** A finite double as Go's `%.<precision>f` writes it: exactly, ties to the even digit. */
export function goFixed(value: number, precision: number): string {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(value));
  const raised = bits.getUint16(0) >> 4;
  const fraction = bits.getBigUint64(0) & ((1n << 52n) - 1n);
  const mantissa = raised === 0 ? fraction : fraction | (1n << 52n);
  const power = Math.max(raised, 1) - 1075;
  // No double has more digits than these after the point.
  const places = Math.min(precision, -Math.min(power, 0));
  const amount = mantissa * 10n ** BigInt(places);
  const size = 1n << BigInt(Math.max(-power, 0));
  let whole = power < 0 ? amount / size : amount << BigInt(power);
  const rest = power < 0 ? amount % size : 0n;
  if (rest * 2n > size || (rest * 2n === size && whole % 2n === 1n)) whole++;
  const digits = whole.toString().padStart(places + 1, "0");
  const point = digits.length - places;
  const after = digits.slice(point) + "0".repeat(precision - places);
  return `${value < 0 || Object.is(value, -0) ? "-" : ""}${digits.slice(0, point)}${after === "" ? "" : `.${after}`}`;
}

/** A text as an expression writes it. */
export function quoted(text: string): string {
  return `"${[...text].map((char) => ESCAPES[char] ?? char).join("")}"`;
}
