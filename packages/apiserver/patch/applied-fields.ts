import { isLeaf } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import { addPath, type FieldSet, type GrowingSet, growing } from "./field-set.ts";
import { memberElement, type PathElement } from "./path-element.ts";
import { isDeclared, memberSchema } from "./sub-schema.ts";
import { isAssociative, isAtomicMap, itemElement } from "./typed-list.ts";

/**
 * The fields that a value states: its leaves, its list items, the free keys of its maps (structured-merge-diff's
 * `ToFieldSet`). An empty list of owned items is owned by nobody, as upstream has it.
 */
export function* fieldsOf(value: unknown, schema: Schema): Passes<FieldSet> {
  const fields = growing();
  yield* collect(value, schema, { path: [], fields, pace: new Pace() });
  return fields;
}

interface Walk {
  /** The way to where the walk is; one list for all of it. */
  path: PathElement[];
  fields: GrowingSet;
  pace: Pace;
}

/** Returns whether the value is an object with nothing in it. */
function* collect(value: unknown, schema: Schema | undefined, walk: Walk): Passes<boolean> {
  if (Array.isArray(value) && isAssociative(schema)) yield* collectItems(value, schema, walk);
  else if (isRecord(value) && !isAtomicMap(schema)) return (yield* collectMembers(value, schema, walk)) === 0;
  else if (value !== undefined) addPath(walk.fields, walk.path);
  return false;
}

function* collectItems(list: readonly unknown[], schema: Schema | undefined, walk: Walk): Passes<void> {
  for (const item of list) {
    if (walk.pace.isOver()) yield;
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    walk.path.push(element);
    if (!isLeaf(item)) yield* collect(item, schema?.items, walk);
    addPath(walk.fields, walk.path);
    walk.path.pop();
  }
}

/** Returns how many members there are. */
function* collectMembers(object: Record<string, unknown>, schema: Schema | undefined, walk: Walk): Passes<number> {
  const names = Object.keys(object);
  for (const name of names) {
    if (walk.pace.isOver()) yield;
    const value = object[name];
    walk.path.push(memberElement(name));
    const isOwned = isLeaf(value) ? value !== undefined : yield* collect(value, memberSchema(schema, name), walk);
    if (isOwned || !isDeclared(schema, name)) addPath(walk.fields, walk.path);
    walk.path.pop();
  }
  return names.length;
}
