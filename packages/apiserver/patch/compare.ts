import { sameJson } from "@slipway/base";
import { isLeaf, type JsonObject, member } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import { addPath, type FieldSet, type GrowingSet, growing } from "./field-set.ts";
import { memberElement, type PathElement } from "./path-element.ts";
import { memberSchema } from "./sub-schema.ts";
import { isAssociative, isAtomicMap, itemsByElement } from "./typed-list.ts";

/** The fields in which two values of one schema differ. */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

/** Compares field by field, lists by the identity of their items (structured-merge-diff's `Compare`). */
export function* compareFields(before: unknown, after: unknown, schema: Schema): Passes<Comparison> {
  const [added, modified, removed] = [growing(), growing(), growing()];
  yield* compareAt(before, after, schema, { added, modified, removed, path: [], pace: new Pace() });
  return { added, modified, removed };
}

/** One walk over two values, and what it has found. */
interface Walk extends Record<keyof Comparison, GrowingSet> {
  /** The way to where the walk is; one list for all of it. */
  path: PathElement[];
  pace: Pace;
}

/** Absent values are undefined; null is a value. */
function* compareAt(before: unknown, after: unknown, schema: Schema | undefined, walk: Walk): Passes<void> {
  if (before === after) return;
  if (walk.pace.isOver()) yield;
  // Ownership goes deeper than a value that has parts.
  const hasMembers = (isRecord(before) || isRecord(after)) && !isAtomicMap(schema);
  const members = hasMembers ? yield* compareMembers(before, after, schema, walk) : 0;
  const items = isAssociative(schema) ? yield* compareItems(before, after, schema, walk) : 0;
  const parts = members + items;
  if (parts > 0) {
    // A value of another form, or of none, was replaced; its parts came or went with it.
    if (before !== undefined && after !== undefined) {
      if (form(before) !== form(after) && before !== null && after !== null) addPath(walk.modified, walk.path);
      return;
    }
  }
  compareWhole(before, after, walk);
}

function compareWhole(before: unknown, after: unknown, { path, added, removed, modified }: Walk): void {
  if (before === undefined) addPath(added, path);
  else if (after === undefined) addPath(removed, path);
  else if (!sameJson(before, after)) addPath(modified, path);
}

function form(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Returns how many members both have. */
function* compareMembers(before: unknown, after: unknown, schema: Schema | undefined, walk: Walk): Passes<number> {
  const old: JsonObject = isRecord(before) ? before : {};
  const now: JsonObject = isRecord(after) ? after : {};
  const names = Object.keys(now);
  const oldNames = Object.keys(old);
  for (const name of differing(old, now, oldNames, names)) {
    if (walk.pace.isOver()) yield;
    const [was, is] = [member(old, name), member(now, name)];
    if (was === is) continue;
    walk.path.push(memberElement(name));
    if (isLeaf(was) && isLeaf(is)) compareWhole(was, is, walk);
    else yield* compareAt(was, is, memberSchema(schema, name), walk);
    walk.path.pop();
  }
  return oldNames.length + names.length;
}

/** The names of the members that are not one and the same in both. */
function differing(
  old: JsonObject,
  now: JsonObject,
  oldNames: readonly string[],
  names: readonly string[],
): readonly string[] {
  if (oldNames.length === 0) return names;
  const found: string[] = [];
  let shared = 0;
  for (const name of oldNames) {
    const is = member(now, name);
    if (is !== undefined) shared++;
    if (member(old, name) !== is) found.push(name);
  }
  if (shared === names.length) return found;
  for (const name of names) if (!Object.hasOwn(old, name)) found.push(name);
  return found;
}

/** Compares the items of two lists. Returns how many that a key or their value identifies are in both. */
function* compareItems(before: unknown, after: unknown, schema: Schema | undefined, walk: Walk): Passes<number> {
  const old = yield* itemsByElement(schema, before, walk.pace);
  const now = yield* itemsByElement(schema, after, walk.pace);
  const compare = function* (element: PathElement, was?: unknown[], is?: unknown[]): Passes<void> {
    if (walk.pace.isOver()) yield;
    walk.path.push(element);
    if ((was?.length ?? 1) === 1 && (is?.length ?? 1) === 1) yield* compareAt(was?.[0], is?.[0], schema?.items, walk);
    else compareWhole(was, is, walk);
    walk.path.pop();
  };
  for (const [element, was] of old) yield* compare(element, was, now.get(element));
  for (const [element, is] of now) if (!old.has(element)) yield* compare(element, undefined, is);
  return lengthOf(before) + lengthOf(after);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
