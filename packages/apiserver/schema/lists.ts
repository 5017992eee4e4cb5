import { canonicalJson } from "../json/canonical.ts";
import { isRecord } from "../json/value.ts";
import { duplicate, invalid } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import type { Node } from "./node.ts";

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

/** The items of `set` and `map` lists, here and below, that an earlier item already stands for (apiextensions `listtype`). */
export function listErrors(node: Node, value: unknown, path: string, errors: FieldError[]): void {
  if (!node.hasListTypes) return;
  if (Array.isArray(value)) {
    const type = node.schema["x-kubernetes-list-type"];
    if (type === "set") for (const i of repeated(value)) errors.push(duplicate(`${path}[${i}]`, value[i]));
    if (type === "map") mapErrors(node, value, path, errors);
    if (node.items !== undefined)
      for (const [i, item] of value.entries()) listErrors(node.items, item, `${path}[${i}]`, errors);
  } else if (isRecord(value)) {
    for (const key in value) {
      // The metadata of the whole is none of the schema's business.
      if (path === "" && key === "metadata") continue;
      const property = node.properties.get(key);
      if (property !== undefined) listErrors(property, value[key], path === "" ? key : `${path}.${key}`, errors);
      else if (typeof node.additional === "object") listErrors(node.additional, value[key], `${path}[${key}]`, errors);
    }
  }
}

function mapErrors(node: Node, list: readonly unknown[], path: string, errors: FieldError[]): void {
  const stranger = list.findIndex((item) => item !== null && !isRecord(item));
  if (stranger >= 0)
    return void errors.push(
      invalid(`${path}[${stranger}]`, list[stranger], "must be an object for an array of list-type map"),
    );
  const keys = list.map((item) => {
    const given = isRecord(item) ? item : {};
    return Object.fromEntries(keysOf(node).flatMap((key) => (Object.hasOwn(given, key) ? [[key, given[key]]] : [])));
  });
  for (const i of repeated(keys)) errors.push(duplicate(`${path}[${i}]`, keys[i]));
}

/** Where a value stands for the second time. */
function repeated(list: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  return list.flatMap((item, i) => {
    const text = canonicalJson(item);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2 ? [i] : [];
  });
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
