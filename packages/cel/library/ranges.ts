/** How large CEL's numbers and times can be. Each throws a `CelError` in cel-go's words for a value that lies beyond. */
import { CelError, Duration, Timestamp, Uint } from "../values.ts";
import { isWithinTime } from "./times.ts";

/** A CEL int. Throws a `CelError` beyond 64 bits with a sign. */
export function toInt(value: bigint): bigint {
  if (!hasSixtyFourBits(value)) throw new CelError("integer overflow");
  return value;
}

/** A CEL uint. Throws a `CelError` for a negative number, and beyond 64 bits. */
export function toUint(value: bigint): Uint {
  if (value < 0n || value >= 1n << 64n) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}

/** A duration of so many nanoseconds. Throws a `CelError` beyond 64 bits with a sign. */
export function toDuration(nanos: bigint): Duration {
  if (!hasSixtyFourBits(nanos)) throw new CelError("integer overflow");
  return new Duration(nanos);
}

/** A time, in nanoseconds since 1970. Throws a `CelError` outside the years 1 to 9999. */
export function toTimestamp(nanos: bigint): Timestamp {
  if (!isWithinTime(nanos)) throw new CelError("timestamp overflow");
  return new Timestamp(nanos);
}

function hasSixtyFourBits(value: bigint): boolean {
  return value >= -(1n << 63n) && value < 1n << 63n;
}
