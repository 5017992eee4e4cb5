import {
  Duration,
  escapeField,
  isReachable,
  type ListKind,
  ofKind,
  parseNamedDuration,
  parseTime,
  Timestamp,
  untyped,
  type Value,
  whole,
} from "@slipway/cel";
import type { Node } from "../node.ts";

/**
 * Turns JSON into what an expression reads, guided by the schema: times and durations become those, field names that are no
 * identifiers are escaped, lists know whether they are sets. Fields that the schema doesn't know are left out.
 */
export class CelValues {
  readonly #made = new Map<object, Value>();

  of(node: Node, value: unknown): Value {
    if (typeof value !== "object" || value === null) return scalar(node, value);
    const made = this.#made.get(value);
    if (made !== undefined) return made;
    const converted = Array.isArray(value) ? this.#list(node, value) : this.#record(node, value);
    this.#made.set(value, converted);
    return converted;
  }

  #list(node: Node, list: readonly unknown[]): Value {
    const items = list.map((item) => (node.items ? this.of(node.items, item) : untyped(item)));
    return ofKind(items, kindOf(node));
  }

  #record(node: Node, value: object): Value {
    if (node.intOrString) return untyped(value);
    const converted = new Map<Value, Value>();
    const isMap = typeof node.additional === "object";
    for (const [key, item] of Object.entries(value)) {
      const child = node.properties.get(key);
      if (child !== undefined) {
        if (item === null) continue;
        if (isReachable(key)) converted.set(escapeField(key), this.of(child, item));
      } else if (isMap) converted.set(key, this.of(node.additional, item));
      else if (node.additional === "any" || node.open) converted.set(key, untyped(item));
    }
    return converted;
  }
}

function kindOf(node: Node): ListKind | undefined {
  switch (node.schema["x-kubernetes-list-type"]) {
    case "set":
      return "set";
    case "map":
      return (node.schema["x-kubernetes-list-map-keys"] ?? []).map(escapeField);
    default:
      return undefined;
  }
}

function scalar(node: Node, value: unknown): Value {
  if (typeof value === "number") {
    if (node.schema.type === "number") return value;
    return whole(value);
  }
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return null;
  if (node.intOrString) return value;
  switch (node.schema.format) {
    case "byte":
      return Buffer.from(value, "base64");
    case "date-time": {
      const nanos = parseTime(value.toUpperCase());
      return nanos === undefined ? value : new Timestamp(nanos);
    }
    case "date": {
      const nanos = parseTime(`${value}T00:00:00Z`);
      return nanos === undefined ? value : new Timestamp(nanos);
    }
    case "duration": {
      const nanos = parseNamedDuration(value);
      return nanos === undefined ? value : new Duration(nanos);
    }
    default:
      return value;
  }
}
