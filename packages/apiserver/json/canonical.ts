import { isRecord } from "./value.ts";

/** A JSON text with sorted keys: two values share it exactly when they are the same. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value);
  const [only] = keys;
  // Most items are identified by one member.
  if (keys.length === 1) return `{${JSON.stringify(only)}:${canonicalJson(value[only!])}}`;
  const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}
