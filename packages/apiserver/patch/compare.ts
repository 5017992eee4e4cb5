import type { Schema } from "../served.ts";
import { addPath, type FieldSet, type GrowingSet, growing, isEmptySet } from "./field-set.ts";
import { equalJson, isObject, type JsonObject, member } from "./json.ts";
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
export function compareFields(before: unknown, after: unknown, schema: Schema): Comparison {
  const differences: Differences = { added: growing(), modified: growing(), removed: growing() };
  compareAt(before, after, schema, [], differences);
  return differences;
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed);
}

/** The way to where the walk is; one list for all of it. */
type Path = PathElement[];
type Differences = Record<keyof Comparison, GrowingSet>;

/** Absent values are undefined; null is a value. */
function compareAt(before: unknown, after: unknown, schema: Schema | undefined, path: Path, found: Differences): void {
  if (before === after) return;
  // Ownership goes deeper than a value that has parts.
  const parts =
    (isAtomicMap(schema) ? 0 : compareMembers(before, after, schema, path, found)) +
    compareItems(before, after, schema, path, found);
  if (parts > 0) {
    // A value of another form, or of none, was replaced; its parts came or went with it.
    if (before !== undefined && after !== undefined) {
      if (form(before) !== form(after) && before !== null && after !== null) addPath(found.modified, path);
      return;
    }
  }
  if (before === undefined) addPath(found.added, path);
  else if (after === undefined) addPath(found.removed, path);
  else if (!equalJson(before, after)) addPath(found.modified, path);
}

function form(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Returns how many members both have. */
function compareMembers(
  before: unknown,
  after: unknown,
  schema: Schema | undefined,
  path: Path,
  found: Differences,
): number {
  const old: JsonObject = isObject(before) ? before : {};
  const now: JsonObject = isObject(after) ? after : {};
  const [oldNames, names] = [Object.keys(old), Object.keys(now)];
  const compare = (was: unknown, is: unknown, name: string): void => {
    if (was === is) return;
    path.push(memberElement(name));
    compareAt(was, is, memberSchema(schema, name), path, found);
    path.pop();
  };
  let shared = 0;
  for (const name of oldNames) {
    const is = member(now, name);
    if (is !== undefined) shared++;
    compare(old[name], is, name);
  }
  if (shared < names.length)
    for (const name of names) if (!Object.hasOwn(old, name)) compare(undefined, now[name], name);
  return oldNames.length + names.length;
}

/** Returns how many items both have that are told apart. */
function compareItems(
  before: unknown,
  after: unknown,
  schema: Schema | undefined,
  path: Path,
  found: Differences,
): number {
  if (!isAssociative(schema)) return 0;
  const old = itemsByElement(schema, before);
  const now = itemsByElement(schema, after);
  for (const element of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(element), now.get(element)];
    path.push(element);
    if ((was?.length ?? 1) === 1 && (is?.length ?? 1) === 1) compareAt(was?.[0], is?.[0], schema?.items, path, found);
    else if (was === undefined) addPath(found.added, path);
    else if (is === undefined) addPath(found.removed, path);
    else if (!equalJson(was, is)) addPath(found.modified, path);
    path.pop();
  }
  return lengthOf(before) + lengthOf(after);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
