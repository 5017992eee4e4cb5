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

/** A text as Go's `%q` writes it. */
export function goQuoted(text: string): string {
  return JSON.stringify(text);
}

/** `amount / size`, exactly, for a power of ten. */
export function decimal(amount: bigint, size: bigint): string {
  const fraction = (amount % size)
    .toString()
    .padStart(size.toString().length - 1, "0")
    .replace(/0+$/, "");
  return `${amount / size}${fraction === "" ? "" : `.${fraction}`}`;
}
