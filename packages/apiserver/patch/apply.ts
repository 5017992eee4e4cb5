/**
 * Patches and field ownership: what a write does to an object, and who owns which of its fields afterwards. Server-side apply is
 * here; the other ways to write are `json-patch.ts`, `merge-patch.ts`, `strategic.ts`, and `managed-fields.ts` for their owners.
 *
 * Pure functions over JSON values: no input is ever changed, and an answer may share unchanged parts with its inputs.
 * Malformed input is a `Fault` whose `details` (`PatchRefusal`) hold the text and causes of the API's own `Status`.
 * Knows schemas only through `../served.ts` and `ObjectMeta`; knows nothing of HTTP, storage or kinds.
 */

import { sameJson } from "@slipway/base";
import { allPasses, type Passes } from "../json/turns.ts";
import type { Body, Schema } from "../model/served.ts";
import { fieldsOf } from "./applied-fields.ts";
import { type ApplyConflict, conflictFault } from "./apply-conflict.ts";
import { capManagers } from "./cap-managers.ts";
import { difference, isEmptySet } from "./field-set.ts";
import { KUBECTL, takeableFields, withLastApplied } from "./last-applied.ts";
import { updatedManagers } from "./managed-fields.ts";
import { idOf, type Manager, type Managers, managersWritten, readStoredManagers, tracked } from "./managers.ts";
import { mergeTyped } from "./merge-typed.ts";
import { prune } from "./prune.ts";
import { typedErrors, Untyped } from "./typed-errors.ts";
import { type Changes, changesIn, contested, disownChanged, type InVersion } from "./versions.ts";
import { bare, objectSchema } from "./whole-object.ts";

export interface Apply {
  /** The stored object; undefined creates. */
  live: Body | undefined;
  /** The applied configuration, without defaults: each field in it will be owned. */
  config: Body;
  manager: string;
  /** Takes over what others own instead of failing. */
  force: boolean;
  /** Empty for the main resource. */
  subresource: string;
  apiVersion: string;
  /** RFC 3339. */
  time: string;
  schema: Schema;
  /** What a write through this (sub)resource leaves as it is: it makes nobody an owner of these. */
  untouched?: readonly ("metadata" | "spec" | "status")[];
  /** How owners see the object who wrote it in another version. */
  inVersion?: InVersion | undefined;
}

/** Owner of everything in an object that had no owners when it was first applied to. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Server-side apply: the live object with the configuration merged in by schema, less the fields that this manager applied before,
 * applies no more, and nobody else owns; `metadata.managedFields` is up to date. Applying the same again changes nothing, not even a
 * time.
 *
 * Changing what others own is a `Conflict` fault naming them and the fields, unless `force`. Throws `Untyped` for a configuration that
 * does not fit the schema.
 */
export function applyConfiguration(apply: Apply): { object: Body } {
  return allPasses(applyInPasses(apply));
}

/** `applyConfiguration` in passes over the object. */
export function* applyInPasses(apply: Apply): Passes<{ object: Body }> {
  const { live, config, manager: name, apiVersion, subresource, time } = apply;
  const schema = objectSchema(apply.schema);
  const applied = bare(config);
  yield;
  const current = bare(live);
  const self = { name, operation: "Apply" as const, apiVersion, subresource };
  const id = idOf(self);

  const before = yield* ownersBefore(apply);
  const last = before.get(id);
  yield;
  const wrong = yield* typedErrors(applied, schema);
  if (wrong !== undefined) throw new Untyped(`failed to create typed patch object (${titleOf(config)}): ${wrong}`);
  // While fields are pruned, all that is stated counts: so metadata itself stays.
  yield;
  const stated = yield* fieldsOf(applied, schema);
  yield;
  const fields = tracked(stated);
  const owners = new Map(before).set(id, { ...self, time: last?.time, fields: stated });

  const merged = yield* mergeTyped(current, applied, schema);
  yield;
  const next = last === undefined ? merged : yield* prune(merged, last, owners, { ...apply, schema });
  yield;
  const changesOf = yield* changesIn({ ...apply, before: live, after: next as unknown as Body });
  yield;
  const conflicts = conflictsWith(before, changesOf, id);
  yield;
  if (!apply.force) refuseConflicts(conflicts, apply, schema);
  const after = disownChanged(owners, changesOf, id);
  // An apply that only comes to own what was there already leaves its time as it was, if it had one.
  if (isEmptySet(fields)) after.delete(id);
  else after.set(id, { ...self, time: sameJson(current, next) ? last?.time : time, fields });
  const object = next as unknown as Body;
  yield;
  const annotated = name === KUBECTL ? withLastApplied(object, live, applied) : object;
  yield;
  return { object: yield* withManagers(annotated, capManagers(after)) };
}

/** The live object's owners; where it has none, whoever wrote it owns it all. */
function* ownersBefore(apply: Apply): Passes<Map<string, Manager>> {
  const { live, apiVersion, schema, subresource, time, untouched = [] } = apply;
  const managers = readStoredManagers(live?.metadata.managedFields) ?? new Map<string, Manager>();
  if (live === undefined || managers.size > 0) return managers;
  const after = { ...live };
  for (const field of untouched)
    if (field === "metadata") after.metadata = {} as Body["metadata"];
    else delete after[field];
  return yield* updatedManagers(
    { before: undefined, after, manager: BEFORE_FIRST_APPLY, subresource, apiVersion, time, schema },
    managers,
  );
}

function titleOf({ apiVersion, kind, metadata }: Body): string {
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `${metadata.namespace ?? ""}/${metadata.name}; ${version}, Kind=${kind}`;
}

function conflictsWith(managers: Managers, changes: Changes, self: string): ApplyConflict[] {
  const found: ApplyConflict[] = [];
  for (const [id, manager] of managers) {
    const fields = contested(manager, changes);
    if (id !== self && !isEmptySet(fields)) found.push({ manager, fields });
  }
  return found;
}

function refuseConflicts(conflicts: ApplyConflict[], { live, config, manager }: Apply, schema: Schema): void {
  if (conflicts.length === 0) return;
  const allowed = manager === KUBECTL && live !== undefined ? takeableFields(live, schema) : undefined;
  const left = conflicts
    .map((conflict) => ({
      ...conflict,
      fields: allowed === undefined ? conflict.fields : difference(conflict.fields, allowed),
    }))
    .filter((conflict) => !isEmptySet(conflict.fields));
  if (left.length > 0) throw conflictFault(left, `${config.kind}/${config.metadata.name}`);
}

function* withManagers(object: Body, managers: Managers): Passes<Body> {
  const managedFields = yield* managersWritten(managers);
  const { metadata } = object;
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}
