/** `"%s has %d".format([a, b])`. */
import { goDouble, goFixed, quoted } from "../go-text.ts";
import { CelError, Duration, isList, isMap, Timestamp, TypeValue, typeOf, Uint, type Value } from "../values.ts";
import { durationText } from "./conversions.ts";
import { timeText } from "./times.ts";

/** A clause of a template: precision and verb. `%%` has none, and one without a verb is not whole. */
export const CLAUSE = /%(?:%|(?:\.(\d+))?(.?))/gsu;

/** The verbs: which types they show, and the error for others. */
export const CLAUSES: Readonly<Record<string, { readonly types: readonly string[]; readonly refusal: string }>> = {
  s: {
    types: "list map int uint double bool string timestamp bytes duration type null".split(" "),
    refusal:
      "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  },
  d: { types: ["int", "uint"], refusal: "decimal clause can only be used on integers" },
  f: { types: ["double", "string"], refusal: "fixed-point clause can only be used on doubles" },
  e: { types: ["double", "string"], refusal: "scientific clause can only be used on doubles" },
  b: { types: ["int", "uint", "bool"], refusal: "only integers and bools can be formatted as binary" },
  o: { types: ["int", "uint"], refusal: "octal clause can only be used on integers" },
  x: {
    types: ["int", "uint", "string", "bytes"],
    refusal: "only integers, byte buffers, and strings can be formatted as hex",
  },
  X: {
    types: ["int", "uint", "string", "bytes"],
    refusal: "only integers, byte buffers, and strings can be formatted as hex",
  },
};

/** Digits after the point that are shown at most. */
const MAX_PRECISION = 1_000_000;

/** Fills the clauses of a template. Throws `CelError` for a clause that is none or that its value does not fit. */
export function format(template: string, values: readonly Value[]): string {
  let next = 0;
  return template.replace(CLAUSE, (clause: string, precision: string | undefined, verb: string | undefined) => {
    if (clause === "%%") return "%";
    if (verb === undefined || verb === "") throw new CelError("unexpected end of string");
    const value = values[next++];
    if (value === undefined) throw new CelError(`index ${next - 1} out of range`);
    const clauses = CLAUSES[verb];
    if (clauses === undefined)
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
    const text = formatted(verb, value, precision === undefined ? 6 : Math.min(Number(precision), MAX_PRECISION));
    if (text === undefined)
      throw new CelError(`error during formatting: ${clauses.refusal}, was given ${typeOf(value)}`);
    return text;
  });
}

/** Undefined where the verb does not show such values. */
function formatted(verb: string, value: Value, precision: number): string | undefined {
  switch (verb) {
    case "s":
      return texted(value);
    case "d":
      return integer(value)?.toString();
    case "f":
      return grouped(double(value), precision);
    case "e":
      return powered(double(value));
    case "b":
      return typeof value === "boolean" ? (value ? "1" : "0") : integer(value)?.toString(2);
    case "o":
      return integer(value)?.toString(8);
    default: {
      const text =
        typeof value === "string" || value instanceof Uint8Array
          ? Buffer.from(value as string).toString("hex")
          : integer(value)?.toString(16);
      return verb === "X" ? text?.toUpperCase() : text;
    }
  }
}

function integer(value: Value): bigint | undefined {
  if (typeof value === "bigint") return value;
  return value instanceof Uint ? value.value : undefined;
}

function double(value: Value): number | undefined {
  if (typeof value === "number") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? Number(value) : undefined;
}

function texted(value: Value): string | undefined {
  if (isList(value)) return `[${value.map(inside).join(", ")}]`;
  if (isMap(value)) {
    const entries = [...value].map(
      ([key, item]) => [texted(key) ?? "", typeof key === "string", inside(item)] as const,
    );
    const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${sorted.map(([key, isText, item]) => `${isText ? quoted(key) : key}:${item}`).join(", ")}}`;
  }
  if (typeof value === "string") return value;
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (value instanceof Timestamp) return timeText(value.nanos);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof TypeValue) return value.name;
  if (typeof value === "number") return goDouble(value);
  if (value === null || typeof value !== "object") return String(value);
  return undefined;
}

/** A double with so many digits after the point, ties to the even one, its thousands apart. */
function grouped(value: number | undefined, precision: number): string | undefined {
  if (value === undefined || !Number.isFinite(value)) return value === undefined ? undefined : unending(value);
  const [whole = "", ...fraction] = goFixed(value, precision).split(".");
  return [whole.replace(/\d(?=(\d{3})+$)/g, "$&,"), ...fraction].join(".");
}

/** A double in powers of ten, in the figures of print. The precision of the clause does not reach upstream's printer. */
function powered(value: number | undefined): string | undefined {
  if (value === undefined || !Number.isFinite(value)) return value === undefined ? undefined : unending(value);
  const [digits = "", power = "0"] = value.toExponential(6).split("e");
  const raised = String(Math.abs(Number(power))).padStart(2, "0");
  const sign = power.startsWith("-") ? "⁻" : "";
  return `${digits}×10${sign}${[...raised].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;
}

function unending(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
}

/** A value as it is written in a list or map. */
function inside(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return Number.isFinite(value) ? goFixed(value, 6) : quoted(goDouble(value));
  if (value instanceof Uint8Array) return `b${quoted(Buffer.from(value).toString())}`;
  if (value instanceof Timestamp) return `timestamp("${timeText(value.nanos)}")`;
  if (value instanceof Duration) return `duration("${durationText(value)}")`;
  return value instanceof TypeValue ? `type(${value.name})` : (texted(value) ?? "");
}
