import { canonicalJson } from "../json/canonical.ts";
import { isLeaf, type JsonObject, member, refusal, setMember, shallowCopy } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import { goValue } from "./go-value.ts";
import {
  DELETE_FROM_LIST,
  failed,
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
 * What is wrong with a patch is reported in upstream's words: `BadRequest` for malformed directives, `Internal` for what its merge fails at.
 */
export function* strategicMerge(target: unknown, patch: unknown, schema: Schema): Passes<unknown> {
  if (!isRecord(patch)) throw refusal("BadRequest", "strategic merge patch", "the patch is no object");
  return yield* mergeObject(isRecord(target) ? target : {}, patch, schema, new Pace());
}

function* mergeObject(
  target: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
  pace: Pace,
): Passes<JsonObject> {
  switch (patchDirective(patch)) {
    case "replace":
      return withoutDirectives(patch) as JsonObject;
    case "delete":
      return {};
    default:
  }
  const result = retain(target, patch);
  for (const key of listsWithDirectives(patch))
    yield* mergeListField(result, steeredList(patch, key), memberSchema(schema, key), pace);
  for (const [key, change] of Object.entries(patch)) {
    if (pace.isOver()) yield;
    if (isDirective(key) || isSteered(patch, key)) continue;
    if (change === null) delete result[key];
    else if (isLeaf(change)) setMember(result, key, change);
    else setMember(result, key, yield* mergeValue(member(result, key), change, memberSchema(schema, key), pace));
  }
  return result;
}

function retain(target: JsonObject, patch: JsonObject): JsonObject {
  const kept = retainedKeys(patch);
  if (kept === undefined) return shallowCopy(target);
  const result: JsonObject = {};
  for (const key of Object.keys(target)) if (kept.has(key)) setMember(result, key, target[key]);
  return result;
}

function* mergeValue(old: unknown, change: unknown, schema: Schema | undefined, pace: Pace): Passes<unknown> {
  if (isRecord(change) && isRecord(old) && !replaces(schema)) return yield* mergeObject(old, change, schema, pace);
  if (Array.isArray(change) && Array.isArray(old) && merges(schema)) return yield* mergeList(old, change, schema, pace);
  // Deleting what is not there, or a value of another type: an empty object stays, as upstream leaves it.
  if (isRecord(change) && patchDirective(change) === "delete") return {};
  return withoutDirectives(change);
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

/** What a patch says of one list: the change, and the directives beside it. */
interface SteeredList {
  key: string;
  change: unknown;
  order: unknown[] | undefined;
  deletions: unknown[] | undefined;
}

function steeredList(patch: JsonObject, key: string): SteeredList {
  const order = listDirective(patch, SET_ORDER + key);
  const deletions = listDirective(patch, DELETE_FROM_LIST + key);
  return { key, change: member(patch, key), order, deletions };
}

/** Merges one list that has directives beside it: deletions, then the change, then the order. */
function* mergeListField(
  result: JsonObject,
  { key, change, order, deletions }: SteeredList,
  schema: Schema | undefined,
  pace: Pace,
): Passes<void> {
  const before = member(result, key);
  if (change !== undefined && change !== null && !Array.isArray(change)) return;
  if (before !== undefined && before !== null && !Array.isArray(before)) return;
  if (change === null) {
    delete result[key];
    return;
  }

  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  const idOf = identity(mergeKey);
  if (change !== undefined && order !== undefined) checkOrder(change, order, idOf);
  const old = before ?? [];
  const gone = new Set(deletions?.map(canonicalJson));
  const left = deletions === undefined ? old : old.filter((item) => !gone.has(canonicalJson(item)));
  if (change === undefined && before === undefined) return;
  const merged =
    change === undefined
      ? left
      : merges(schema)
        ? yield* mergeList(left, change, schema, pace)
        : withoutDirectives(change);
  setMember(
    result,
    key,
    order === undefined ? merged : yield* mergeOrder(merged as unknown[], order, old, { idOf, pace }),
  );
}

/** What a patch brings must stand in the order that it asks for. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], idOf: (item: unknown) => unknown): void {
  const brought = change.filter((item) => !(isRecord(item) && Object.hasOwn(item, PATCH)));
  if (brought.length === 0 || order.length === 0) return;
  let next = 0;
  for (const wanted of order) if (next < brought.length && idOf(brought[next]) === idOf(wanted)) next++;
  if (next < brought.length)
    throw failed(
      `The order in patch list:\n${goValue(change)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
    );
}

function* mergeList(
  old: readonly unknown[],
  change: readonly unknown[],
  schema: Schema | undefined,
  pace: Pace,
): Passes<unknown[]> {
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  const all = [...old, ...change];
  if (all.some(Array.isArray)) throw refusal("Invalid", "strategic merge patch", "lists of lists are not supported");
  const type = typeof all[0];
  if (!all.every((item) => typeof item === type))
    throw failed(`list element types are not identical: ${goValue([old, change])}`);
  if (!all.some(isRecord)) return yield* mergeOrder([...new Set(all)], change, old, { idOf: (item) => item, pace });
  if (mergeKey === undefined) throw failed("cannot merge lists without merge key for");
  const objects = { old: old as readonly JsonObject[], change: change as readonly JsonObject[] };
  return yield* mergeObjects(objects, schema?.items, mergeKey, pace);
}

function* mergeObjects(
  { old, change }: { old: readonly JsonObject[]; change: readonly JsonObject[] },
  schema: Schema | undefined,
  mergeKey: string,
  pace: Pace,
): Passes<unknown[]> {
  const idOf = identity(mergeKey);
  const directives = change.map(patchDirective);
  const plain = change.filter((_, i) => directives[i] === undefined);
  if (directives.includes("merge")) throw failed("merging lists cannot yet be specified in the patch");
  if (directives.includes("replace")) return plain.map(withoutDirectives);

  const deleted = new Set(change.filter((_, i) => directives[i] === "delete").map(idOf));
  const kept = old.filter((item) => !deleted.has(idOf(item)));
  const merged: unknown[] = [...kept];
  const places = new Map<unknown, number>();
  for (const [at, item] of kept.entries()) if (!places.has(idOf(item))) places.set(idOf(item), at);
  for (const item of plain) {
    if (pace.isOver()) yield;
    const id = idOf(item);
    const at = places.get(id);
    if (at === undefined) places.set(id, merged.push(withoutDirectives(item)) - 1);
    else merged[at] = yield* mergeObject(merged[at] as JsonObject, item, schema, pace);
  }
  return yield* mergeOrder(merged, plain, kept, { idOf, pace });
}

/** What makes an element of a list itself: its merge key's value, or for scalars the value. */
function identity(mergeKey: string | undefined): (item: unknown) => unknown {
  return (item) => {
    if (!isRecord(item)) return item;
    const id = mergeKey === undefined ? undefined : member(item, mergeKey);
    if (id !== undefined && id !== null) return typeof id === "object" ? JSON.stringify(id) : id;
    throw failed(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`);
  };
}
