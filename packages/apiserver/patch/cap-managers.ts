import { type FieldSet, NO_FIELDS, unionOf } from "./field-set.ts";
import { idOf, type Manager, type Managers } from "./managers.ts";

/** Updaters beyond these are collected in one entry per API version, so that names made up per write can't grow an object without end. */
const MAX_UPDATERS = 10;
const COLLECTOR = "ancient-changes";

/** Collects the oldest updaters of an object while there are too many. */
export function capManagers(managers: Managers): Map<string, Manager> {
  const capped = new Map(managers);
  const updaters = [...managers].filter(([, manager]) => manager.operation === "Update");
  updaters.sort(([, a], [, b]) => ((a.time ?? "") < (b.time ?? "") ? -1 : 1));
  let left = updaters.length;
  const firstOf = new Map<string, string>();
  const collected = new Map<string, FieldSet[]>();
  for (const [id, manager] of updaters) {
    if (left <= MAX_UPDATERS) break;
    const first = firstOf.get(manager.apiVersion);
    if (first === undefined) {
      firstOf.set(manager.apiVersion, id);
      continue;
    }
    const bucket = { name: COLLECTOR, operation: "Update" as const, apiVersion: manager.apiVersion, subresource: "" };
    const bucketId = idOf(bucket);
    const parts = collected.get(bucketId) ?? fieldsOf(capped.get(bucketId) ?? capped.get(first));
    parts.push(manager.fields);
    collected.set(bucketId, parts);
    capped.delete(first);
    capped.delete(id);
    capped.set(bucketId, { ...bucket, time: manager.time, fields: NO_FIELDS });
    left--;
  }
  for (const [id, parts] of collected) capped.set(id, { ...capped.get(id)!, fields: unionOf(parts) });
  return capped;
}

function fieldsOf(manager: Manager | undefined): FieldSet[] {
  return manager === undefined ? [] : [manager.fields];
}
