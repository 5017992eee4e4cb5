/** Nanoseconds of each unit that Go's `time.ParseDuration` knows; µ is written with either of its two code points. */
const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "\u00b5s": 1_000n,
  "\u03bcs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go keeps a duration in a signed 64-bit count of nanoseconds. */
const MAX_NS = 2n ** 63n - 1n;

/**
 * Reads a duration as Go writes it (`1h30m`, `-1.5s`, `0`) and returns milliseconds, with a fraction for what is shorter.
 * Throws a `RangeError` that names the text and the position (from 0) where it stops being a duration.
 */
export function parseDuration(text: string): number {
  const refuse = (at: number, why: string): never => {
    throw new RangeError(`duration ${JSON.stringify(text)}: ${why} at position ${at}`);
  };
  const negative = text.startsWith("-");
  let at = negative || text.startsWith("+") ? 1 : 0;
  if (text.slice(at) === "0") return 0;
  if (at === text.length) refuse(at, "a number is missing");

  let total = 0n;
  while (at < text.length) {
    const [number, whole = "", fraction = ""] = /^(\d*)(?:\.(\d*))?/.exec(text.slice(at))!;
    if (whole === "" && fraction === "") refuse(at, "a number is missing");
    at += number.length;
    const [unit] = /^[^\d.]*/.exec(text.slice(at))!;
    if (unit === "") refuse(at, "a unit is missing");
    const size = Object.hasOwn(UNIT_NS, unit) ? UNIT_NS[unit]! : refuse(at, `unknown unit ${JSON.stringify(unit)}`);
    total += nanosecondsOf(whole, fraction, size);
    if (total > MAX_NS) refuse(at, "more than 292 years");
    at += unit.length;
  }
  const ms = Number(total / UNIT_NS.ms!) + Number(total % UNIT_NS.ms!) / 1e6;
  return negative ? -ms : ms;
}

function nanosecondsOf(whole: string, fraction: string, size: bigint): bigint {
  return BigInt(whole || "0") * size + (BigInt(fraction || "0") * size) / 10n ** BigInt(fraction.length);
}

/** Writes milliseconds as Go does: `1h30m0s`, `1.5s`, `20ms`, `0s`. Fractions of a nanosecond are rounded. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) throw new RangeError(`duration of ${ms} ms`);
  const whole = Math.trunc(Math.abs(ms));
  const ns = BigInt(whole) * UNIT_NS.ms! + BigInt(Math.round((Math.abs(ms) - whole) * 1e6));
  if (ns === 0n) return "0s";
  const sign = ms < 0 ? "-" : "";
  if (ns < 1_000n) return `${sign}${ns}ns`;
  if (ns < 1_000_000n) return `${sign}${decimal(ns, 1_000n)}\u00b5s`;
  if (ns < 1_000_000_000n) return `${sign}${decimal(ns, 1_000_000n)}ms`;
  const hours = ns / UNIT_NS.h!;
  const minutes = (ns % UNIT_NS.h!) / UNIT_NS.m!;
  const seconds = `${decimal(ns % UNIT_NS.m!, UNIT_NS.s!)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
}

/** `value / unit` with as many decimals as it needs; `unit` is a power of ten. */
function decimal(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const fraction = (value % unit).toString().padStart(digits, "0").replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}
