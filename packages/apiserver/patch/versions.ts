import { allPasses, type Passes } from "../json/turns.ts";
import type { Body, Schema } from "../model/served.ts";
import { type Comparison, compareFields } from "./compare.ts";
import { difference, equalSets, type FieldSet, intersection, isEmptySet, union } from "./field-set.ts";
import type { Manager, Managers } from "./managers.ts";
import { bare, objectSchema } from "./whole-object.ts";

/** An object in another version of its kind, and that version's schema; undefined where the kind has no such version. */
export type InVersion = (object: Body, apiVersion: string) => { object: Body; schema: Schema } | undefined;

/** One write, in the version that it was made in. */
export interface Change {
  before: Body | undefined;
  after: Body;
  apiVersion: string;
  schema: Schema;
  /** Unset: all versions have the same fields. */
  inVersion?: InVersion | undefined;
}

/** What a write changes in a version. */
export type Changes = (apiVersion: string) => Comparison | undefined;

/**
 * What a write changes, in the fields of each version: owners know an object by the fields of the version that they wrote it in
 * (structured-merge-diff's `Updater.update`). Undefined: the kind has no such version any more.
 */
export function* changesIn(change: Change): Passes<Changes> {
  const { before, after, schema, inVersion } = change;
  const written = yield* compareFields(bare(before), bare(after), objectSchema(schema));
  const known = new Map<string, Comparison | undefined>([[change.apiVersion, written]]);
  return (apiVersion) => {
    if (inVersion === undefined) return known.get(change.apiVersion);
    if (!known.has(apiVersion)) {
      const is = inVersion(after, apiVersion);
      const was = before === undefined ? undefined : inVersion(before, apiVersion)?.object;
      known.set(apiVersion, is && allPasses(compareFields(bare(was), bare(is.object), objectSchema(is.schema))));
    }
    return known.get(apiVersion);
  };
}

/** Takes what changed away from all owners but `except`, and those away that own nothing, or wrote in a version that was removed. */
export function disownChanged(managers: Managers, changes: Changes, except?: string): Map<string, Manager> {
  const left = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const changed = changes(manager.apiVersion);
    if (id !== except && changed === undefined) continue;
    const rest = id === except || changed === undefined ? manager.fields : difference(manager.fields, allOf(changed));
    if (!isEmptySet(rest)) left.set(id, equalSets(rest, manager.fields) ? manager : { ...manager, fields: rest });
  }
  return left;
}

/** Of an owner's fields those that a write sets to something else. */
export function contested(manager: Manager, changes: Changes): FieldSet {
  const changed = changes(manager.apiVersion);
  const none: FieldSet = { member: false, below: new Map() };
  return changed === undefined ? none : intersection(manager.fields, union(changed.modified, changed.added));
}

const allOf = ({ added, modified, removed }: Comparison): FieldSet => union(union(added, modified), removed);
