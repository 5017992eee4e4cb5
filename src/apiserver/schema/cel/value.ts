import { Duration } from "@marcbachmann/cel-js/evaluator";
import { isRecord, type Node } from "../node.ts";
import { parseDuration } from "./duration.ts";
import { escapeField } from "./names.ts";

/**
 * Turns JSON into what a CEL program reads, guided by the schema: integers become BigInt, dates and durations become
 * time values, field names that are no identifiers are escaped. Fields that the schema doesn't know are left out.
 */
export class CelValues {
  #made = new Map<object, unknown>();
  #longest = 1;

  /** The most elements that any list or map converted so far has. */
  get longest(): number {
    return this.#longest;
  }

  of(node: Node, value: unknown): unknown {
    if (typeof value !== "object" || value === null) return scalar(node, value);
    const made = this.#made.get(value);
    if (made !== undefined) return made;
    const converted = Array.isArray(value)
      ? this.#list(node, value)
      : this.#record(node, value as Record<string, unknown>);
    this.#made.set(value, converted);
    return converted;
  }

  #list(node: Node, list: readonly unknown[]): unknown {
    this.#longest = Math.max(this.#longest, list.length);
    return list.map((item) => (node.items ? this.of(node.items, item) : untyped(item)));
  }

  #record(node: Node, value: Record<string, unknown>): unknown {
    const converted = new Map<string, unknown>();
    const isMap = typeof node.additional === "object";
    let count = 0;
    for (const key in value) {
      count++;
      const child = node.properties.get(key);
      if (child) converted.set(isMap ? key : escapeField(key), this.of(child, value[key]));
      else if (isMap) converted.set(key, this.of(node.additional as Node, value[key]));
      else if (node.additional === "any" || node.open) converted.set(key, untyped(value[key]));
    }
    if (isMap) this.#longest = Math.max(this.#longest, count);
    return converted;
  }
}

function scalar(node: Node, value: unknown): unknown {
  if (typeof value === "number") {
    if (node.schema.type === "number") return value;
    return Number.isInteger(value) ? BigInt(value) : value;
  }
  if (typeof value !== "string") return value;
  switch (node.schema.format) {
    case "byte":
      return Buffer.from(value, "base64");
    case "date-time":
    case "datetime":
    case "date": {
      const at = Date.parse(value);
      return Number.isNaN(at) ? value : new Date(at);
    }
    case "duration": {
      const nanos = parseDuration(value);
      return nanos === undefined ? value : new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
    }
    default:
      return value;
  }
}

/** JSON of unknown shape as CEL reads it: whole numbers are integers, objects are maps. */
export function untyped(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(untyped);
  if (!isRecord(value)) return value;
  const converted = new Map<string, unknown>();
  for (const key in value) converted.set(key, untyped(value[key]));
  return converted;
}
