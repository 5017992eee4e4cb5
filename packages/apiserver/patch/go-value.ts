import { isRecord } from "../json/value.ts";

/** A JSON value as Go prints it with `%v`: `map[a:1 b:[x y]]`. Upstream's messages show patches so. */
export function goValue(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goValue).join(" ")}]`;
  if (!isRecord(value)) return String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goValue(value[key])}`);
  return `map[${members.join(" ")}]`;
}

/** The Go type that a JSON value is decoded as where none is asked for. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isRecord(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}
