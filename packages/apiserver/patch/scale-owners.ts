import type { Schema } from "../model/served.ts";
import { difference, type FieldSet, intersection, isEmptySet, setOfPaths } from "./field-set.ts";
import { idOf, type Manager, type Managers, readManagers, writeManagers } from "./managers.ts";
import { memberElement } from "./path-element.ts";

/** The object whose replicas a Scale shows, as far as their owners go. */
export interface Scaled {
  managedFields: unknown;
  /** Where its replicas stand: `.spec.replicas`. */
  path: string;
  /** The version of the kind that the scale is asked in, and all that there are. */
  apiVersion: string;
  versions: readonly string[];
}

/** The fields of an autoscaling/v1 Scale, for apply. */
export const scaleSchema: Schema = {
  type: "object",
  properties: {
    spec: { type: "object", properties: { replicas: { type: "integer", format: "int32" } } },
    status: {
      type: "object",
      properties: { replicas: { type: "integer", format: "int32" }, selector: { type: "string" } },
    },
  },
};
export const SCALE_VERSION = "autoscaling/v1";

const SCALE_REPLICAS = pathSet("spec.replicas");

/** Who owns the replicas of a scaled object, as `managedFields` of its Scale (apimachinery `ScaleHandler`). */
export function scaleOwners(scaled: Scaled): unknown[] {
  const replicas = pathSet(scaled.path);
  const owners = [...readOwners(scaled.managedFields)].filter(
    ([, { apiVersion, fields }]) => scaled.versions.includes(apiVersion) && holds(fields, replicas),
  );
  return writeManagers(
    new Map(owners.map(([id, owner]) => [id, { ...owner, apiVersion: SCALE_VERSION, fields: SCALE_REPLICAS }])),
  );
}

/**
 * `managedFields` of the scaled object after its Scale was written: who lost the replicas there owns them no more, who came to own them
 * does. As upstream, newcomers have no time.
 */
export function ownersAfterScale(scaled: Scaled, ofScale: unknown): unknown[] {
  const replicas = pathSet(scaled.path);
  const left = new Map(readOwners(ofScale));
  const next = new Map<string, Manager>();
  for (const [id, owner] of readOwners(scaled.managedFields)) {
    if (!scaled.versions.includes(owner.apiVersion)) continue;
    const isOwner = holds(owner.fields, replicas);
    const stays = !isOwner || left.delete(id);
    const fields = stays ? owner.fields : difference(owner.fields, replicas);
    if (!isEmptySet(fields)) next.set(id, { ...owner, fields });
  }
  for (const owner of left.values())
    if (holds(owner.fields, SCALE_REPLICAS)) {
      const newcomer = { ...owner, apiVersion: scaled.apiVersion, time: undefined, fields: replicas };
      // An updater that kept the replicas is written beside its other fields.
      next.set(`scale ${idOf(newcomer)}`, newcomer);
    }
  return writeManagers(next);
}

function readOwners(managedFields: unknown): Managers {
  return readManagers(managedFields) ?? new Map();
}

function pathSet(path: string): FieldSet {
  const steps = path.split(".").filter((step) => step !== "");
  return setOfPaths([steps.map(memberElement)]);
}

function holds(fields: FieldSet, path: FieldSet): boolean {
  return !isEmptySet(intersection(fields, path));
}
