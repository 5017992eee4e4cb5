/** The walks of `value.ts` over values that may be large, in passes. */

import { sameJson } from "@slipway/base";
import { isLongCall, Pace, type Passes, passesInTurns, type Sized } from "./turns.ts";
import { type Budget, copyJson, isRecord, MAX_LEVELS, newBudget, spend, spendValues, tooDeep } from "./value.ts";

interface Copying {
  budget: Budget;
  pace: Pace;
}

/** `copyJson` in passes. */
export function* copyInPasses<T>(value: T, most?: number): Passes<T> {
  return yield* copyWithinInPasses(newBudget(most), value);
}

/** A copy of a part of an object, in passes. */
export function* copyWithinInPasses<T>(budget: Budget, value: T): Passes<T> {
  return (yield* copy(value, 0, { budget, pace: new Pace() })) as T;
}

function* copy(value: unknown, depth: number, walk: Copying): Passes<unknown> {
  if (!isNested(value)) return scalar(value, walk.budget);
  if (depth >= MAX_LEVELS) throw tooDeep();
  if (Array.isArray(value)) return yield* copyList(value, depth, walk);
  if (value instanceof Date) return value.toISOString();
  return yield* copyRecord(value, depth, walk);
}

function* copyList(list: readonly unknown[], depth: number, walk: Copying): Passes<unknown[]> {
  spendValues(walk.budget, list.length);
  const items: unknown[] = [];
  for (const item of list) {
    if (walk.pace.isOver()) yield;
    if (item === undefined) items.push(null);
    else items.push(isNested(item) ? yield* copy(item, depth + 1, walk) : scalar(item, walk.budget));
  }
  return items;
}

function* copyRecord(record: object, depth: number, walk: Copying): Passes<Record<string, unknown>> {
  const { budget, pace } = walk;
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(record)) {
    if (pace.isOver()) yield;
    const item = (record as Record<string, unknown>)[name];
    if (item === undefined || typeof item === "function") continue;
    spendValues(budget, 1);
    spend(budget, name);
    // An own `__proto__` would turn into a prototype at the first careless assignment.
    if (name === "__proto__") continue;
    out[name] = isNested(item) ? yield* copy(item, depth + 1, walk) : scalar(item, budget);
  }
  return out;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function scalar(value: unknown, budget: Budget): unknown {
  if (typeof value === "string") spend(budget, value);
  return typeof value === "bigint" ? Number(value) : value;
}

/** `sameJson`; in passes where the call is a long one. */
export function sameInTurns(call: Sized, a: unknown, b: unknown): boolean | Promise<boolean> {
  return isLongCall(call) ? passesInTurns(call, sameInPasses(a, b)) : sameJson(a, b);
}

/** `copyJson`; in passes where the call is a long one. */
export function copyInTurns<T>(call: Sized, value: T, most?: number): T | Promise<T> {
  return isLongCall(call) ? passesInTurns(call, copyInPasses(value, most)) : copyJson(value, most);
}

/** `sameJson` in passes. */
export function* sameInPasses(a: unknown, b: unknown, pace: Pace = new Pace()): Passes<boolean> {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return yield* sameLists(a, b, pace);
  return isRecord(a) && isRecord(b) && (yield* sameRecords(a, b, pace));
}

function* sameLists(a: readonly unknown[], b: readonly unknown[], pace: Pace): Passes<boolean> {
  if (a.length !== b.length) return false;
  for (const [i, item] of a.entries()) {
    if (pace.isOver()) yield;
    if (item !== b[i] && !(yield* sameInPasses(item, b[i], pace))) return false;
  }
  return true;
}

type Fields = Readonly<Record<string, unknown>>;

function* sameRecords(a: Fields, b: Fields, pace: Pace): Passes<boolean> {
  let shared = 0;
  for (const name of Object.keys(a)) {
    if (pace.isOver()) yield;
    // A field may be called `constructor`: only an object's own count.
    const isShared = Object.hasOwn(b, name);
    if (isShared) shared++;
    const other = isShared ? b[name] : undefined;
    if (a[name] !== other && !(yield* sameInPasses(a[name], other, pace))) return false;
  }
  const names = Object.keys(b);
  return names.length === shared || names.every((name) => b[name] === undefined || Object.hasOwn(a, name));
}
