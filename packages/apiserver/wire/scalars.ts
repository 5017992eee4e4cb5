import { canonicalQuantity } from "@slipway/base";
import { parseGoTime } from "./go-time.ts";

/** A single value that its Go type does not take. No `Error`: a body may hold very many, and a stack trace costs more than all else. */
export class Refused {
  readonly message: string;
  /** The Go type that the complaint names, from the field's own; unset: the message is the whole complaint. */
  readonly wants: ((go: string) => string) | undefined;
  /** Nothing after it is decoded. */
  readonly ends: boolean;

  constructor(message: string, ends: boolean, wants?: (go: string) => string) {
    this.message = message;
    this.ends = ends;
    this.wants = wants;
  }
}

type Scalar =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "Quantity"
  | "Time"
  | "MicroTime"
  | "IntOrString";

const INT32 = 2 ** 31;

/** A JSON value other than null as the Go type writes it again. Throws `Refused`. */
export function readScalar(is: Scalar, value: unknown): unknown {
  switch (is) {
    case "string":
      if (typeof value !== "string") throw unfit(false);
      return value;
    case "bool":
      if (typeof value !== "boolean") throw unfit(false);
      return value;
    case "int32":
    case "int64":
      if (typeof value !== "number" || !Number.isInteger(value) || (is === "int32" && !isInt32(value)))
        throw unfit(false);
      return value;
    case "float64":
      if (typeof value !== "number") throw unfit(false);
      return value;
    case "bytes":
      if (typeof value !== "string") throw unfit(false);
      return base64(value);
    case "Quantity":
      return quantity(value);
    case "Time":
    case "MicroTime":
      if (typeof value !== "string") throw unfit(true, "string");
      return time(is, value);
    case "IntOrString":
      if (typeof value === "string" || (typeof value === "number" && Number.isInteger(value) && isInt32(value)))
        return value;
      throw unfit(true, "int32");
  }
}

function isInt32(value: number): boolean {
  return value >= -INT32 && value < INT32;
}

function unfit(ends: boolean, wanted?: string): Refused {
  return new Refused("", ends, (go) => wanted ?? go);
}

function base64(text: string): string {
  // The Go decoder skips line ends.
  const bare = text.replace(/[\r\n]/g, "");
  const bad = /[^A-Za-z0-9+/]/.exec(bare)?.index ?? bare.length;
  const padding = bare.slice(bad);
  const whole = Math.floor(bad / 4) * 4;
  const left = bad - whole;
  const fits = left === 0 ? padding === "" : padding === "=".repeat(4 - left) && left > 1;
  if (!fits) throw new Refused(`illegal base64 data at input byte ${complaintAt(bare, bad, left)}`, false);
  return bare;
}

/** Where Go's decoder stops: at the character that can't be there, or behind the start of a group that is cut short. */
function complaintAt(text: string, bad: number, left: number): number {
  if (bad === text.length) return text.length - left;
  if (text[bad] !== "=" || left < 2) return bad;
  // Padding has begun: what is missing or wrong lies in it or behind it.
  const padding = 4 - left;
  for (let i = 0; i < padding; i++) if (text[bad + i] !== "=") return bad + i >= text.length ? text.length : bad + i;
  return bad + padding;
}

function quantity(value: unknown): string {
  const text = (typeof value === "string" ? value : JSON.stringify(value)).trim();
  const match = /^([+-]?\d*(?:\.\d*)?)((?:[eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?)$/.exec(text);
  if (match === null || text === "")
    throw new Refused(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      true,
    );
  try {
    return canonicalQuantity(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const numeric = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(match[1]!);
    throw new Refused(numeric ? "unable to parse quantity's suffix" : "unable to parse numeric part of quantity", true);
  }
}

function time(is: "Time" | "MicroTime", text: string): string {
  const parsed = parseGoTime(text, is === "Time" ? "" : ".000000");
  if (typeof parsed !== "string") return parsed.text;
  throw new Refused(parsed, true);
}
