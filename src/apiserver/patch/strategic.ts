import type { Schema } from "../served.ts";
import { equalJson, isObject, type JsonObject, member, refusal, setMember } from "./json.ts";
import {
  DELETE_FROM_LIST,
  isDirective,
  listDirective,
  PATCH,
  patchDirective,
  retainedKeys,
  SET_ORDER,
  withoutDirectives,
} from "./strategic-directives.ts";
import { mergeOrder } from "./strategic-order.ts";
import { memberSchema } from "./sub-schema.ts";

/**
 * Strategic merge patch: a merge patch in which the schema says how lists merge
 * (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`) and `$patch`, `$retainKeys`,
 * `$deleteFromPrimitiveList/x` and `$setElementOrder/x` steer it. Behaves as apimachinery's package strategicpatch
 * does on a server: nulls remove, and vanish where there is nothing to remove.
 *
 * A malformed patch is a `BadRequest` fault, a list element without its merge key `Invalid`; both name the path.
 */
export function strategicMerge(target: unknown, patch: unknown, schema: Schema): unknown {
  if (!isObject(patch)) throw refusal("BadRequest", "strategic merge patch", "the patch is no object");
  return mergeObject(isObject(target) ? target : {}, patch, schema, "");
}

function mergeObject(target: JsonObject, patch: JsonObject, schema: Schema | undefined, path: string): JsonObject {
  switch (patchDirective(patch, path)) {
    case "replace":
      return withoutDirectives(patch) as JsonObject;
    case "delete":
      return {};
    default:
  }
  const result = retain(target, patch, path);
  for (const key of listsWithDirectives(patch)) mergeListField(result, patch, key, schema, path);
  for (const [key, change] of Object.entries(patch)) {
    if (isDirective(key) || isSteered(patch, key)) continue;
    mergeField(result, key, change, memberSchema(schema, key), `${path}.${key}`);
  }
  return result;
}

function retain(target: JsonObject, patch: JsonObject, path: string): JsonObject {
  const kept = retainedKeys(patch, path);
  if (kept === undefined) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
}

function mergeField(result: JsonObject, key: string, change: unknown, schema: Schema | undefined, path: string): void {
  const old = member(result, key);
  if (change === null) delete result[key];
  else if (isObject(change) && isObject(old) && !replaces(schema)) {
    setMember(result, key, mergeObject(old, change, schema, path));
  } else if (Array.isArray(change) && Array.isArray(old) && merges(schema)) {
    setMember(result, key, mergeList(old, change, schema, path));
  } else if (isObject(change) && patchDirective(change, path) === "delete") {
    // Deleting what is not there, or a value of another type: an empty object stays, as upstream leaves it.
    setMember(result, key, {});
  } else setMember(result, key, withoutDirectives(change));
}

const merges = (schema: Schema | undefined): boolean => strategies(schema).includes("merge");
const replaces = (schema: Schema | undefined): boolean => strategies(schema).includes("replace");
const strategies = (schema: Schema | undefined): string[] => schema?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];

/** Lists that `$setElementOrder/x` or `$deleteFromPrimitiveList/x` speak of. */
function listsWithDirectives(patch: JsonObject): Set<string> {
  const names = new Set<string>();
  for (const key of Object.keys(patch)) {
    for (const prefix of [SET_ORDER, DELETE_FROM_LIST]) if (key.startsWith(prefix)) names.add(key.slice(prefix.length));
  }
  return names;
}

function isSteered(patch: JsonObject, key: string): boolean {
  return (
    Array.isArray(patch[key]) && (Object.hasOwn(patch, SET_ORDER + key) || Object.hasOwn(patch, DELETE_FROM_LIST + key))
  );
}

/** Merges one list that has directives beside it: deletions, then the change, then the order. */
function mergeListField(
  result: JsonObject,
  patch: JsonObject,
  key: string,
  parent: Schema | undefined,
  parentPath: string,
): void {
  const schema = memberSchema(parent, key);
  const path = `${parentPath}.${key}`;
  const order = listDirective(patch, SET_ORDER + key, parentPath);
  const deletions = listDirective(patch, DELETE_FROM_LIST + key, parentPath);
  const change = member(patch, key);
  const before = member(result, key);
  if (change !== undefined && change !== null && !Array.isArray(change)) return;
  if (before !== undefined && before !== null && !Array.isArray(before)) return;
  if (change === null) {
    delete result[key];
    return;
  }

  const old = before ?? [];
  const left = deletions === undefined ? old : old.filter((item) => !deletions.some((gone) => equalJson(gone, item)));
  if (change === undefined && before === undefined) return;
  const merged =
    change === undefined ? left : merges(schema) ? mergeList(left, change, schema, path) : withoutDirectives(change);
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  setMember(
    result,
    key,
    order === undefined ? merged : mergeOrder(merged as unknown[], order, old, identity(mergeKey, path)),
  );
}

function mergeList(
  old: readonly unknown[],
  change: readonly unknown[],
  schema: Schema | undefined,
  path: string,
): unknown[] {
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  if (![...old, ...change].some(isObject)) return mergeScalars(old, change, path);
  if (mergeKey === undefined) {
    throw refusal("Invalid", "strategic merge patch", `${path}: no merge key is known for this list of objects`);
  }
  return mergeObjects(old, change, { schema: schema?.items, mergeKey, path });
}

function mergeScalars(old: readonly unknown[], change: readonly unknown[], path: string): unknown[] {
  if ([...old, ...change].some(Array.isArray)) {
    throw refusal("Invalid", "strategic merge patch", `${path}: lists of lists can't be merged`);
  }
  return mergeOrder([...new Set([...old, ...change])], change, old, (item) => item);
}

interface ObjectList {
  schema: Schema | undefined;
  mergeKey: string;
  path: string;
}

function mergeObjects(old: readonly unknown[], change: readonly unknown[], list: ObjectList): unknown[] {
  const { mergeKey, path, schema } = list;
  const idOf = identity(mergeKey, path);
  const changes = change.map((item) => element(item, path));
  const plain = changes.filter((item) => !Object.hasOwn(item, PATCH) || patchDirective(item, path) === "merge");
  if (changes.some((item) => patchDirective(item, path) === "replace")) return plain.map(withoutDirectives);

  const deleted = changes.filter((item) => patchDirective(item, path) === "delete").map(idOf);
  const merged = old.filter((item) => !deleted.includes(idOf(item)));
  for (const item of plain) {
    const id = idOf(item);
    const at = merged.findIndex((candidate) => idOf(candidate) === id);
    const itemPath = `${path}[${mergeKey}=${JSON.stringify(item[mergeKey])}]`;
    if (at < 0) merged.push(withoutDirectives(item));
    else merged[at] = mergeObject(merged[at] as JsonObject, item, schema, itemPath);
  }
  return mergeOrder(merged, plain, old, idOf);
}

function element(item: unknown, path: string): JsonObject {
  if (isObject(item)) return item;
  throw refusal("BadRequest", "strategic merge patch", `${path}: the list mixes objects and other values`);
}

/** What makes an element of a list itself: its merge key's value, or for scalars the value. */
function identity(mergeKey: string | undefined, path: string): (item: unknown) => unknown {
  return (item) => {
    if (!isObject(item)) return item;
    const id = mergeKey === undefined ? undefined : member(item, mergeKey);
    if (id !== undefined && id !== null) return typeof id === "object" ? JSON.stringify(id) : id;
    const said = `map: ${Object.keys(item).join(" ")} does not contain declared merge key: ${mergeKey}`;
    throw refusal("Invalid", "strategic merge patch", `${path}: ${said}`);
  };
}
