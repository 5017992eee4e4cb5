import { isLeaf, type JsonObject, member, setMember, shallowCopy } from "../json/members.ts";
import { Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Schema } from "../model/served.ts";
import { memberSchema } from "./sub-schema.ts";
import { isAssociative, isAtomicMap, itemElement, itemsByElement } from "./typed-list.ts";

/**
 * An applied configuration over a live value (structured-merge-diff's `Merge`): maps merge by member, associative lists by
 * item, everything else is replaced. Undefined stands for absent.
 */
export function* mergeTyped(
  live: unknown,
  config: unknown,
  schema: Schema | undefined,
  pace = new Pace(),
): Passes<unknown> {
  if (config === undefined) return live;
  if (isRecord(config) && isRecord(live) && !isAtomicMap(schema))
    return yield* mergeMembers(live, config, schema, pace);
  if (Array.isArray(config) && Array.isArray(live) && isAssociative(schema))
    return yield* mergeItems(live, config, schema, pace);
  return config;
}

function* mergeMembers(
  live: JsonObject,
  config: JsonObject,
  schema: Schema | undefined,
  pace: Pace,
): Passes<JsonObject> {
  let merged: JsonObject | undefined;
  for (const name of Object.keys(config)) {
    if (pace.isOver()) yield;
    const was = member(live, name);
    const given = config[name];
    const is =
      isLeaf(given) && given !== undefined ? given : yield* mergeTyped(was, given, memberSchema(schema, name), pace);
    // Copied only when something differs: what is the same object afterwards need not be compared.
    if (is === was && (was !== undefined || Object.hasOwn(live, name))) continue;
    merged ??= shallowCopy(live);
    setMember(merged, name, is);
  }
  return merged ?? live;
}

/**
 * Items that the configuration names come in its order; the others keep their place between the live items around them, so far
 * as the two orders agree.
 */
function* mergeItems(
  live: readonly unknown[],
  config: readonly unknown[],
  schema: Schema | undefined,
  pace: Pace,
): Passes<unknown[]> {
  const had = yield* itemsByElement(schema, live, pace);
  const wanted = yield* itemsByElement(schema, config, pace);
  const shared = [...wanted.keys()].filter((element) => had.has(element));
  const merged: unknown[] = [];
  let next = 0;
  let nextShared = 0;
  const take = function* (): Passes<void> {
    if (pace.isOver()) yield;
    const item = config[next++];
    const element = itemElement(schema, item);
    const same = element === undefined ? undefined : had.get(element);
    merged.push(same?.length === 1 ? yield* mergeTyped(same[0], item, schema?.items, pace) : item);
    if (element !== undefined && element === shared[nextShared]) nextShared++;
  };
  for (const item of live) {
    if (pace.isOver()) yield;
    const element = itemElement(schema, item);
    if (element === undefined || !wanted.has(element)) merged.push(item);
    // An item whose turn has passed or is yet to come stands where the configuration has it.
    else if (element === shared[nextShared]) {
      const turn = nextShared;
      while (nextShared === turn) yield* take();
    }
  }
  while (next < config.length) yield* take();
  return merged;
}
