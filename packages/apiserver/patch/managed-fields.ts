import { sameJson } from "@slipway/base";
import { allPasses, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body, Schema } from "../model/served.ts";
import { capManagers } from "./cap-managers.ts";
import { isEmptySet, union } from "./field-set.ts";
import {
  idOf,
  type Manager,
  type Managers,
  managersWritten,
  readManagers,
  readStoredManagers,
  tracked,
} from "./managers.ts";
import { typedErrors } from "./typed-errors.ts";
import { changesIn, disownChanged, type InVersion } from "./versions.ts";
import { bare, objectSchema } from "./whole-object.ts";

/** A write other than an apply. */
export interface TrackedUpdate {
  /** The stored object; undefined for a create. */
  before: Body | undefined;
  /** What an object with nothing set looks like, where that is not empty: those fields belong to nobody. */
  blank?: Body | undefined;
  /** The object about to be stored, defaults filled in. */
  after: Body;
  manager: string;
  /** Empty for the main resource. */
  subresource: string;
  apiVersion: string;
  /** RFC 3339. */
  time: string | undefined;
  schema: Schema;
  inVersion?: InVersion | undefined;
  operation?: "Update";
  /** The object may hold what its schema has no fields for; then the write changes no owners. */
  mayNotFit?: boolean;
}

/**
 * `metadata.managedFields` after a write that is no apply, as kube-apiserver keeps it: the fields that the write changed belong
 * to its manager alone, fields it removed to nobody. Writers may edit managedFields themselves through the main resource; an empty
 * list or one empty entry resets it, after which updates are not tracked until the next apply. Empty: leave the field out.
 */
export function trackUpdate(update: TrackedUpdate): unknown[] {
  return allPasses(trackInPasses(update));
}

/** `trackUpdate` in passes over the object. */
export function* trackInPasses(update: TrackedUpdate): Passes<unknown[]> {
  const { before, after, subresource } = update;
  const managers = managersOf(before, after, subresource);
  if (before !== undefined && managers.size === 0) return [];
  yield;
  const [whole, schema] = [bare(after), objectSchema(update.schema)];
  if (update.mayNotFit === true && (yield* typedErrors(whole, schema, { allowDuplicates: true })))
    return yield* managersWritten(managers);
  yield;
  const updated = yield* updatedManagers(update, managers);
  yield;
  return yield* managersWritten(capManagers(updated));
}

/** Who owns what after `update`, given who owned what before it. */
export function* updatedManagers(update: TrackedUpdate, managers: Managers): Passes<Map<string, Manager>> {
  const { before, apiVersion, manager: name, subresource, time } = update;
  const changes = yield* changesIn({ ...update, before: before ?? update.blank });
  const { added, modified } = changes(apiVersion)!;
  yield;
  const next = disownChanged(managers, changes);
  yield;
  const taken = tracked(union(modified, added));
  if (isEmptySet(taken)) return next;
  const self = { name, operation: "Update" as const, apiVersion, subresource };
  const held = next.get(idOf(self));
  const fields = held === undefined ? taken : union(held.fields, taken);
  return next.set(idOf(self), { ...self, time, fields });
}

/** The owners to go by: those that the write sends along, where it may and they make sense; else the stored ones. */
function managersOf(before: Body | undefined, after: Body, subresource: string): Map<string, Manager> {
  const stored = readStoredManagers(before?.metadata.managedFields) ?? new Map<string, Manager>();
  const sent = after.metadata.managedFields;
  if (subresource !== "" || sent === undefined || sent === null) return stored;
  // What is as it was need not be read again, nor be written.
  if (sameJson(sent, before?.metadata.managedFields)) return stored;
  if (isReset(sent)) return new Map();
  const read = readManagers(sent);
  return read === undefined || read.size === 0 ? stored : read;
}

function isReset(list: readonly unknown[]): boolean {
  const [first, ...more] = list;
  return first === undefined || (more.length === 0 && isRecord(first) && Object.keys(first).length === 0);
}
