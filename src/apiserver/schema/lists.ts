import { canonicalJson } from "./equality.ts";
import { isRecord, type Node } from "./node.ts";

/** The text that identifies an item of a `map` list by its keys; defaults of the item's schema stand in for absent keys. */
export function keyOfItem(node: Node, item: unknown): string {
  if (!isRecord(item)) return canonicalJson(item);
  return keysOf(node)
    .map((key) => canonicalJson(Object.hasOwn(item, key) ? item[key] : node.items?.properties.get(key)?.schema.default))
    .join(",");
}

function keysOf(node: Node): readonly string[] {
  return node.schema["x-kubernetes-list-map-keys"] ?? [];
}

/** Only the keys of a list item, as a duplicate is reported. */
export function keyFields(node: Node, item: unknown): unknown {
  if (!isRecord(item)) return item;
  const fields: Record<string, unknown> = {};
  for (const key of keysOf(node)) if (Object.hasOwn(item, key)) fields[key] = item[key];
  return fields;
}

/** Indexes of items of a `set` or `map` list that an earlier item already stands for. */
export function duplicates(node: Node, list: readonly unknown[]): number[] {
  const type = node.schema["x-kubernetes-list-type"];
  if (list.length < 2 || (type !== "set" && type !== "map")) return [];
  // Built-in kinds have rules of their own for this.
  if (node.schema["x-kubernetes-patch-strategy"] !== undefined) return [];
  const seen = new Set<unknown>();
  const found: number[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    const key = type === "map" ? keyOfItem(node, item) : typeof item === "object" ? canonicalJson(item) : item;
    if (seen.has(key)) found.push(i);
    seen.add(key);
  }
  return found;
}

/**
 * Finds an item's predecessor in the old list: by key in a `map` list. Items of other lists have none, because their
 * position says nothing about their identity.
 */
export function predecessors(node: Node, old: unknown): (item: unknown) => unknown {
  if (!Array.isArray(old) || node.schema["x-kubernetes-list-type"] !== "map") return () => undefined;
  const byKey = new Map<string, unknown>();
  for (const item of old) byKey.set(keyOfItem(node, item), item);
  return (item) => byKey.get(keyOfItem(node, item));
}

/** The old value of a field, where there was one. */
export function oldField(old: unknown, key: string): unknown {
  return isRecord(old) && Object.hasOwn(old, key) ? old[key] : undefined;
}
