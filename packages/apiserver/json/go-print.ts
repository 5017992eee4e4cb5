import { isRecord } from "./value.ts";

/** A JSON value as Go's `%v` prints it when it is decoded without a type. */
export function printGo(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printGo).join(" ")}]`;
  if (isRecord(value)) return `map[${sortedEntries(value, (key, item) => `${key}:${printGo(item)}`).join(" ")}]`;
  return value === null || value === undefined ? "<nil>" : String(value);
}

/** The same as `%#v` prints it. */
export function printGoSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(printGoSyntax).join(", ")}}`;
  if (isRecord(value)) {
    const entries = sortedEntries(value, (key, item) => `${JSON.stringify(key)}:${printGoSyntax(item)}`);
    return `map[string]interface {}{${entries.join(", ")}}`;
  }
  if (value === null || value === undefined) return "interface {}(nil)";
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** The Go type of a JSON value that is decoded without one. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "map[string]interface {}";
}

function sortedEntries(value: Record<string, unknown>, print: (key: string, item: unknown) => string): string[] {
  return Object.keys(value)
    .sort()
    .map((key) => print(key, value[key]));
}
