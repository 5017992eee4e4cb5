import type { Schema } from "../served.ts";
import { type FieldSet, setOfPaths } from "./field-set.ts";
import { isObject } from "./json.ts";
import { memberElement, type PathElement, printPath } from "./path-element.ts";
import { isDeclared, keepsUnknown, memberSchema } from "./sub-schema.ts";
import { checkItems, isAssociative, isAtomicMap, itemElement, notTyped } from "./typed-list.ts";

/**
 * The fields that a value states: its leaves, its list items, the free keys of its maps (structured-merge-diff's
 * `ToFieldSet`). `strictFor` refuses, as `BadRequest` naming that object, fields that the schema lacks and list items without
 * identity. An empty list of owned items is owned by nobody, as upstream has it; `withEmptyLists` names it all the same.
 */
export function fieldsOf(
  value: unknown,
  schema: Schema,
  options: { strictFor?: string; withEmptyLists?: boolean } = {},
): FieldSet {
  const paths: PathElement[][] = [];
  collect(value, schema, {
    path: [],
    paths,
    strictFor: options.strictFor,
    emptyLists: options.withEmptyLists === true,
  });
  return setOfPaths(paths);
}

interface Walk {
  path: PathElement[];
  paths: PathElement[][];
  strictFor: string | undefined;
  emptyLists: boolean;
}

function collect(value: unknown, schema: Schema | undefined, walk: Walk): void {
  if (Array.isArray(value) && isAssociative(schema)) collectItems(value, schema, walk);
  else if (isObject(value) && !isAtomicMap(schema)) collectMembers(value, schema, walk);
  else if (value !== undefined) walk.paths.push(walk.path);
}

function collectItems(list: readonly unknown[], schema: Schema | undefined, walk: Walk): void {
  if (walk.strictFor !== undefined) checkItems(schema, list, printPath(walk.path), walk.strictFor);
  if (list.length === 0 && walk.emptyLists) walk.paths.push(walk.path);
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
    const declared = isDeclared(schema, name);
    if (walk.strictFor !== undefined && !declared && !keepsUnknown(schema)) {
      throw notTyped(walk.strictFor, `${printPath(path)}: field not declared in schema`);
    }
    collect(value, memberSchema(schema, name), { ...walk, path });
    if (!declared || (isObject(value) && Object.keys(value).length === 0)) walk.paths.push(path);
  }
}
