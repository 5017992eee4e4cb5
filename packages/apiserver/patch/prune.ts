import type { Passes } from "../json/turns.ts";
import type { Body, Schema } from "../model/served.ts";
import { fieldsOf } from "./applied-fields.ts";
import { difference, type FieldSet, intersection, isEmptySet, union } from "./field-set.ts";
import { idOf, type Manager, type Managers } from "./managers.ts";
import { removeFields, withNamedParents } from "./remove-fields.ts";
import type { InVersion } from "./versions.ts";

interface Seen {
  value: unknown;
  schema: Schema;
}

/**
 * Takes away what an applier gave up, keeping what anybody owns and what the applier never had (upstream `Updater.prune`). `last`: what the
 * applier owned before. Each owner's fields are looked at in the version that they were written in.
 */
export function* prune(
  merged: unknown,
  last: Manager,
  owners: Managers,
  { apiVersion, schema, inVersion }: { apiVersion: string; schema: Schema; inVersion?: InVersion | undefined },
): Passes<unknown> {
  const see = (value: unknown, version: string): Seen | undefined => {
    if (inVersion === undefined) return { value, schema };
    const seen = inVersion(value as Body, version);
    return seen && { value: seen.object, schema: seen.schema };
  };
  // Most appliers give up nothing.
  const self = owners.get(idOf(last));
  if (last.apiVersion === apiVersion && self !== undefined && isEmptySet(difference(last.fields, self.fields)))
    return merged;
  const whole = see(merged, last.apiVersion);
  if (whole === undefined) return merged;
  const lasting = withNamedParents(last.fields, whole.schema);
  let kept: unknown = removeFields(whole.value, lasting, whole.schema);
  for (const [version, fields] of ownedBy(owners, last.apiVersion)) {
    const all = see(merged, version);
    const left = see(kept, version);
    if (all === undefined || left === undefined) continue;
    yield;
    const gone = difference(yield* fieldsIn(all), yield* fieldsIn(left));
    yield;
    kept = removeFields(all.value, difference(gone, withNamedParents(fields, all.schema)), all.schema);
  }
  yield;
  const dropped = difference(yield* fieldsIn(whole), yield* fieldsIn(see(kept, last.apiVersion)!));
  yield;
  const pruned = removeFields(whole.value, intersection(dropped, lasting), whole.schema);
  // The version that is written in is served.
  return see(pruned, apiVersion)!.value;
}

function* fieldsIn({ value, schema }: Seen): Passes<FieldSet> {
  return withNamedParents(yield* fieldsOf(value, schema), schema);
}

/** What all owners of a version own together; `first` comes first. */
function ownedBy(owners: Managers, first: string): Map<string, FieldSet> {
  const none: FieldSet = { member: false, below: new Map() };
  const owned = new Map<string, FieldSet>([[first, none]]);
  for (const { apiVersion, fields } of owners.values())
    owned.set(apiVersion, union(owned.get(apiVersion) ?? none, fields));
  return owned;
}
