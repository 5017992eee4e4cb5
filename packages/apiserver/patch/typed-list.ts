import { type JsonObject, member } from "../json/members.ts";
import type { Pace, Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import { keyElement, type PathElement, valueElement } from "./path-element.ts";

/** Whether a list's items have owners of their own (`set`, `map`); else the list is owned as a whole. */
export function isAssociative(schema: Schema | undefined): boolean {
  const type = schema?.["x-kubernetes-list-type"];
  return type === "set" || type === "map";
}

/** Whether an object is owned as a whole. */
export function isAtomicMap(schema: Schema | undefined): boolean {
  return schema?.["x-kubernetes-map-type"] === "atomic";
}

/** What identifies an item of an associative list: its value, or by those keys that it has. Undefined: by nothing. */
export function itemElement(schema: Schema | undefined, item: unknown): PathElement | undefined {
  if (schema?.["x-kubernetes-list-type"] === "set") return valueElement(item);
  if (!isRecord(item)) return undefined;
  const keys: JsonObject = {};
  for (const name of schema?.["x-kubernetes-list-map-keys"] ?? []) {
    const value = member(item, name) ?? schema?.items?.properties?.[name]?.default;
    if (value !== undefined) keys[name] = value;
  }
  return Object.keys(keys).length === 0 ? undefined : keyElement(keys);
}

/**
 * The items of an associative list by what identifies them, in order. Items that share an identity are collected: stored
 * lists may hold such, since validation of old was laxer. Items without identity are left out.
 */
export function* itemsByElement(
  schema: Schema | undefined,
  list: unknown,
  pace: Pace,
): Passes<Map<PathElement, unknown[]>> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of Array.isArray(list) ? list : []) {
    if (pace.isOver()) yield;
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    const same = found.get(element);
    if (same === undefined) found.set(element, [item]);
    else same.push(item);
  }
  return found;
}
