import type { Value } from "./values.ts";

/** JSON of unknown shape as an expression reads it: whole numbers are integers, objects are maps. */
export function untyped(value: unknown): Value {
  if (typeof value === "number") return whole(value);
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(untyped);
  if (typeof value !== "object" || value === null) return null;
  return new Map(Object.entries(value).map(([key, item]) => [key, untyped(item)]));
}

/** A whole number that has 64 bits is an integer. */
export function whole(value: number): Value {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63 ? BigInt(value) : value;
}
