import type { Schema } from "../served.ts";
import { type FieldSet, setOfPaths } from "./field-set.ts";
import { isObject } from "./json.ts";
import { memberElement, type PathElement } from "./path-element.ts";
import { isDeclared, memberSchema } from "./sub-schema.ts";
import { isAssociative, isAtomicMap, itemElement } from "./typed-list.ts";

/**
 * The fields that a value states: its leaves, its list items, the free keys of its maps (structured-merge-diff's
 * `ToFieldSet`). An empty list of owned items is owned by nobody, as upstream has it.
 */
export function fieldsOf(value: unknown, schema: Schema): FieldSet {
  const paths: PathElement[][] = [];
  collect(value, schema, { path: [], paths });
  return setOfPaths(paths);
}

interface Walk {
  path: PathElement[];
  paths: PathElement[][];
}

function collect(value: unknown, schema: Schema | undefined, walk: Walk): void {
  if (Array.isArray(value) && isAssociative(schema)) collectItems(value, schema, walk);
  else if (isObject(value) && !isAtomicMap(schema)) collectMembers(value, schema, walk);
  else if (value !== undefined) walk.paths.push(walk.path);
}

function collectItems(list: readonly unknown[], schema: Schema | undefined, walk: Walk): void {
  for (const item of list) {
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    const path = [...walk.path, element];
    collect(item, schema?.items, { ...walk, path });
    walk.paths.push(path);
  }
}

function collectMembers(object: Record<string, unknown>, schema: Schema | undefined, walk: Walk): void {
  for (const [name, value] of Object.entries(object)) {
    const path = [...walk.path, memberElement(name)];
    collect(value, memberSchema(schema, name), { ...walk, path });
    if (!isDeclared(schema, name) || (isObject(value) && Object.keys(value).length === 0)) walk.paths.push(path);
  }
}
