/** CEL's conversions between types, and sizes. */
import { characters } from "../code-points.ts";
import { parseDuration } from "../duration.ts";
import type { Functions } from "../functions.ts";
import { decimal, goDouble } from "../go-text.ts";
import { CelError, Duration, Timestamp, TypeValue, typeOf, Uint, type Value } from "../values.ts";
import { toInt, toTimestamp, toUint } from "./ranges.ts";
import { isWithinTime, parseTime, timeText } from "./times.ts";

const SECOND = 1_000_000_000n;

function intOf(value: number): bigint {
  // The least int is refused, too, as upstream.
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function uintOf(value: number): Uint {
  if (!(value >= 0 && value < 2 ** 64)) throw new CelError("unsigned integer overflow");
  return new Uint(BigInt(Math.trunc(value)));
}

function misfit(type: string): never {
  throw new CelError(`type conversion error from 'string' to '${type}'`);
}

function parsedInt(text: string): bigint {
  const value = /^[-+]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : misfit("int");
  return value < -(1n << 63n) || value >= 1n << 63n ? misfit("int") : value;
}

function parsedUint(text: string): Uint {
  const value = /^\d+$/.test(text) ? BigInt(text) : misfit("uint");
  return value >= 1n << 64n ? misfit("uint") : new Uint(value);
}

function parsedDouble(text: string): number {
  if (/^[-+]?(inf|infinity)$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text) ? Number(text) : misfit("double");
  return Number.isFinite(value) ? value : misfit("double");
}

function parsedBool(text: string): boolean {
  if (["1", "t", "true", "TRUE", "True", "T"].includes(text)) return true;
  if (["0", "f", "false", "FALSE", "False", "F"].includes(text)) return false;
  return misfit("bool");
}

function parsedTimestamp(text: string): Timestamp {
  const nanos = parseTime(text);
  if (nanos === undefined || !isWithinTime(nanos)) misfit("google.protobuf.Timestamp");
  return new Timestamp(nanos);
}

function parsedDuration(text: string): Duration {
  const nanos = parseDuration(text);
  if (nanos === undefined) misfit("google.protobuf.Duration");
  return new Duration(nanos);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

/** Seconds of a duration, as CEL writes it. */
export function durationText({ nanos }: Duration): string {
  return `${nanos < 0n ? "-" : ""}${decimal(nanos < 0n ? -nanos : nanos, SECOND)}s`;
}

/** Adds CEL's conversions between types: `int()`, `uint()`, `double()`, `string()` and the like, and `size()`. */
export function registerConversions(functions: Functions): void {
  const same = (value: Value): Value => value;
  functions
    .add("dyn", "to_dyn", "(A) -> dyn", same)
    .add("type", "type", "(A) -> type(A)", (value: Value) => new TypeValue(typeOf(value)))
    .add("int", "int64_to_int64", "(int) -> int", same)
    .add("int", "uint64_to_int64", "(uint) -> int", ({ value }: Uint) => toInt(value))
    .add("int", "double_to_int64", "(double) -> int", intOf)
    .add("int", "string_to_int64", "(string) -> int", parsedInt)
    .add("int", "timestamp_to_int64", "(timestamp) -> int", ({ nanos }: Timestamp) =>
      nanos >= 0n || nanos % SECOND === 0n ? nanos / SECOND : nanos / SECOND - 1n,
    )
    .add("int", "duration_to_int64", "(duration) -> int", ({ nanos }: Duration) => nanos)
    .add("uint", "uint64_to_uint64", "(uint) -> uint", same)
    .add("uint", "int64_to_uint64", "(int) -> uint", toUint)
    .add("uint", "double_to_uint64", "(double) -> uint", uintOf)
    .add("uint", "string_to_uint64", "(string) -> uint", parsedUint)
    .add("double", "double_to_double", "(double) -> double", same)
    .add("double", "int64_to_double", "(int) -> double", Number)
    .add("double", "uint64_to_double", "(uint) -> double", ({ value }: Uint) => Number(value))
    .add("double", "string_to_double", "(string) -> double", parsedDouble)
    .add("bool", "bool_to_bool", "(bool) -> bool", same)
    .add("bool", "string_to_bool", "(string) -> bool", parsedBool)
    .add("bytes", "bytes_to_bytes", "(bytes) -> bytes", same)
    .add("bytes", "string_to_bytes", "(string) -> bytes", (text: string) => Buffer.from(text))
    .add("timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", same)
    .add("timestamp", "string_to_timestamp", "(string) -> timestamp", parsedTimestamp)
    .add("timestamp", "int64_to_timestamp", "(int) -> timestamp", (seconds: bigint) => toTimestamp(seconds * SECOND))
    .add("duration", "duration_to_duration", "(duration) -> duration", same)
    .add("duration", "int64_to_duration", "(int) -> duration", () => {
      throw new CelError("type conversion error from 'int' to 'google.protobuf.Duration'");
    })
    .add("duration", "string_to_duration", "(string) -> duration", parsedDuration)
    .add("string", "string_to_string", "(string) -> string", same)
    .add("string", "bool_to_string", "(bool) -> string", String)
    .add("string", "int64_to_string", "(int) -> string", String)
    .add("string", "uint64_to_string", "(uint) -> string", ({ value }: Uint) => String(value))
    .add("string", "double_to_string", "(double) -> string", goDouble)
    .add("string", "bytes_to_string", "(bytes) -> string", textOf)
    .add("string", "timestamp_to_string", "(timestamp) -> string", ({ nanos }: Timestamp) => timeText(nanos))
    .add("string", "duration_to_string", "(duration) -> string", durationText);
  const sizes: [id: string, type: string, size: (value: never) => number][] = [
    ["bytes", "bytes", (bytes: Uint8Array) => bytes.length],
    ["list", "list(A)", (list: readonly Value[]) => list.length],
    ["map", "map(A, B)", (map: ReadonlyMap<Value, Value>) => map.size],
    ["string", "string", characters],
  ];
  for (const [id, type, size] of sizes)
    functions
      .add("size", `size_${id}`, `(${type}) -> int`, (value: never) => BigInt(size(value)))
      .add("size", `${id}_size`, `${type}.() -> int`, (value: never) => BigInt(size(value)));
}
