import type { Schema } from "../served.ts";
import { type FieldSet, isEmptySet, setOfPaths } from "./field-set.ts";
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
  const differences: Differences = { added: [], modified: [], removed: [] };
  compareAt(before, after, schema, [], differences);
  return {
    added: setOfPaths(differences.added),
    modified: setOfPaths(differences.modified),
    removed: setOfPaths(differences.removed),
  };
}

export function isSame({ added, modified, removed }: Comparison): boolean {
  return isEmptySet(added) && isEmptySet(modified) && isEmptySet(removed);
}

type Path = readonly PathElement[];
type Differences = Record<keyof Comparison, Path[]>;

/** Absent values are undefined; null is a value. */
function compareAt(before: unknown, after: unknown, schema: Schema | undefined, path: Path, found: Differences): void {
  if (before === after) return;
  if (hasParts(before, schema) || hasParts(after, schema)) {
    compareMembers(before, after, schema, path, found);
    compareItems(before, after, schema, path, found);
    // A value of another form, or of none, was replaced; its parts came or went with it.
    if (before !== undefined && after !== undefined) {
      if (form(before) !== form(after) && before !== null && after !== null) found.modified.push(path);
      return;
    }
  }
  if (before === undefined) found.added.push(path);
  else if (after === undefined) found.removed.push(path);
  else if (!equalJson(before, after)) found.modified.push(path);
}

/** Whether ownership goes deeper than the value itself. */
function hasParts(value: unknown, schema: Schema | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0 && isAssociative(schema);
  return isObject(value) && Object.keys(value).length > 0 && !isAtomicMap(schema);
}

function form(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

function compareMembers(
  before: unknown,
  after: unknown,
  schema: Schema | undefined,
  path: Path,
  found: Differences,
): void {
  const old: JsonObject = isObject(before) ? before : {};
  const now: JsonObject = isObject(after) ? after : {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [was, is] = [member(old, name), member(now, name)];
    if (was !== is) compareAt(was, is, memberSchema(schema, name), [...path, memberElement(name)], found);
  }
}

function compareItems(
  before: unknown,
  after: unknown,
  schema: Schema | undefined,
  path: Path,
  found: Differences,
): void {
  if (!isAssociative(schema)) return;
  const old = itemsByElement(schema, before);
  const now = itemsByElement(schema, after);
  for (const element of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(element), now.get(element)];
    const at = [...path, element];
    if ((was?.length ?? 1) === 1 && (is?.length ?? 1) === 1) compareAt(was?.[0], is?.[0], schema?.items, at, found);
    else if (was === undefined) found.added.push(at);
    else if (is === undefined) found.removed.push(at);
    else if (!equalJson(was, is)) found.modified.push(at);
  }
}
