/** Timestamps and durations: what is read of them, by UTC or in a time zone. */
import type { Functions } from "../functions.ts";
import { decimal } from "../go-text.ts";
import { CelError, type Duration, type Timestamp } from "../values.ts";

const SECOND = 1_000_000_000n;
const FIRST = BigInt(Date.parse("0001-01-01T00:00:00Z")) * 1_000_000n;
const LAST = BigInt(Date.parse("9999-12-31T23:59:59.999Z")) * 1_000_000n + 999_999n;

/** Whether nanoseconds since 1970 lie in the years that timestamps have. */
export function isWithinTime(nanos: bigint): boolean {
  return nanos >= FIRST && nanos <= LAST;
}

/** Nanoseconds of an RFC 3339 time since 1970; undefined when it is none. */
export function parseTime(text: string): bigint | undefined {
  const parts = /^(\d{4}-\d{2}-\d{2}T(?!24)\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(Z|[-+]\d{2}:\d{2})$/.exec(text);
  if (parts === null) return undefined;
  const [, to = "", fraction = "", zone = ""] = parts;
  const millis = Date.parse(to + zone);
  const day = Date.parse(`${to.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(millis) || new Date(day).toISOString().slice(0, 10) !== to.slice(0, 10)) return undefined;
  return BigInt(millis) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** A timestamp as RFC 3339 in UTC, with as much of a fraction as it has. */
export function timeText(nanos: bigint): string {
  const fraction = ((nanos % SECOND) + SECOND) % SECOND;
  const seconds = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  return `${seconds}${decimal(fraction, SECOND).slice(1)}Z`;
}

/** The moment with its clock put to a time zone, to be read as if it were UTC. */
function inZone({ nanos }: Timestamp, zone: string): Date {
  const millis = Number(nanos >= 0n || nanos % 1_000_000n === 0n ? nanos / 1_000_000n : nanos / 1_000_000n - 1n);
  const offset = /^([-+]?)(\d{2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(millis + (offset[1] === "-" ? -minutes : minutes) * 60_000);
  }
  if (zone === "" || zone === "UTC") return new Date(millis);
  return new Date(millis + zoneOffset(millis, zone));
}

function zoneOffset(millis: number, zone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
  const name = format.formatToParts(millis).find(({ type }) => type === "timeZoneName")?.value ?? "";
  const parts = /([-+])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name);
  if (parts === null) return 0;
  const seconds = Number(parts[2]) * 3600 + Number(parts[3]) * 60 + Number(parts[4] ?? 0);
  return (parts[1] === "-" ? -seconds : seconds) * 1000;
}

const PARTS: Readonly<Record<string, [id: string, read: (at: Date) => number]>> = {
  getFullYear: ["timestamp_to_year", (at) => at.getUTCFullYear()],
  getMonth: ["timestamp_to_month", (at) => at.getUTCMonth()],
  getDayOfYear: [
    "timestamp_to_day_of_year",
    (at) => Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / 86_400_000),
  ],
  getDayOfMonth: ["timestamp_to_day_of_month", (at) => at.getUTCDate() - 1],
  getDate: ["timestamp_to_day_of_month_1_based", (at) => at.getUTCDate()],
  getDayOfWeek: ["timestamp_to_day_of_week", (at) => at.getUTCDay()],
  getHours: ["timestamp_to_hours", (at) => at.getUTCHours()],
  getMinutes: ["timestamp_to_minutes", (at) => at.getUTCMinutes()],
  getSeconds: ["timestamp_to_seconds", (at) => at.getUTCSeconds()],
  getMilliseconds: ["timestamp_to_milliseconds", (at) => at.getUTCMilliseconds()],
};

/** Adds the functions of timestamps and durations, with time zones. */
export function registerTimes(functions: Functions): void {
  for (const [name, [id, read]] of Object.entries(PARTS))
    functions
      .add(name, id, "timestamp.() -> int", (at: Timestamp) => BigInt(read(inZone(at, ""))))
      .add(name, `${id}_with_tz`, "timestamp.(string) -> int", (at: Timestamp, zone: string) =>
        BigInt(read(inZone(at, zone))),
      );
  functions
    .add("getHours", "duration_to_hours", "duration.() -> int", ({ nanos }: Duration) => nanos / (3600n * SECOND))
    .add("getMinutes", "duration_to_minutes", "duration.() -> int", ({ nanos }: Duration) => nanos / (60n * SECOND))
    .add("getSeconds", "duration_to_seconds", "duration.() -> int", ({ nanos }: Duration) => nanos / SECOND)
    .add(
      "getMilliseconds",
      "duration_to_milliseconds",
      "duration.() -> int",
      ({ nanos }: Duration) => nanos / 1_000_000n,
    );
}
