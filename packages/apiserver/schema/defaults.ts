import { copyJson } from "../json/value.ts";
import { isRecord, type Node, put } from "./node.ts";

/**
 * Fills in the schema's defaults, in place. A null where the schema allows none counts as absent: the default takes its
 * place, or it is dropped where there is no default (structural defaulting of apiextensions v1).
 */
export function applyDefaults(node: Node, value: unknown): void {
  if (Array.isArray(value)) intoItems(node, value);
  else if (isRecord(value)) intoFields(node, value);
}

function intoFields(node: Node, value: Record<string, unknown>): void {
  if (node.hasDefaults) {
    for (const [name, child] of node.properties) {
      if (child.schema.default === undefined) continue;
      const present = Object.hasOwn(value, name) ? value[name] : undefined;
      if (present === undefined || (present === null && !child.nullable))
        put(value, name, copyJson(child.schema.default));
    }
  }
  for (const key in value) {
    const child = node.properties.get(key) ?? (typeof node.additional === "object" ? node.additional : undefined);
    if (child === undefined) continue;
    let inner = value[key];
    if (inner === null && !child.nullable) {
      if (child.schema.default === undefined) {
        delete value[key];
        continue;
      }
      inner = copyJson(child.schema.default);
      put(value, key, inner);
    }
    if (typeof inner === "object") applyDefaults(child, inner);
  }
}

function intoItems(node: Node, list: unknown[]): void {
  const { items } = node;
  if (items === undefined) return;
  for (let i = 0; i < list.length; i++) {
    if (list[i] === null && !items.nullable && items.schema.default !== undefined)
      list[i] = copyJson(items.schema.default);
    const item = list[i];
    if (typeof item === "object") applyDefaults(items, item);
  }
}
