import { canonicalJson } from "../json/canonical.ts";
import { type JsonObject, member } from "../json/members.ts";
import { allPasses, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { tooLong } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { difference, type FieldSet, isEmptySet, setOfPaths, union } from "./field-set.ts";
import { fromFieldsV1, fromStoredFieldsV1, toFieldsV1 } from "./fields-v1.ts";
import { memberElement } from "./path-element.ts";

const MAX_MANAGER_BYTES = 128;

/** One entry of `metadata.managedFields`: who, how, through what, and which fields. */
export interface Manager {
  name: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  /** Empty for the main resource. */
  subresource: string;
  /** RFC 3339; absent where the writer gave none. */
  time: string | undefined;
  fields: FieldSet;
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** Appliers keep their entry when they move to another version of the API; updaters get one per version. */
export function idOf(manager: Omit<Manager, "fields" | "time">): string {
  const { name, operation, apiVersion, subresource } = manager;
  return canonicalJson([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}

/** Reads the `metadata.managedFields` of a stored object; undefined where an entry makes no sense. */
export function readStoredManagers(list: unknown): Map<string, Manager> | undefined {
  return readManagers(list, fromStoredFieldsV1);
}

/** Reads `metadata.managedFields`; undefined where an entry makes no sense. */
export function readManagers(list: unknown, read = fromFieldsV1): Map<string, Manager> | undefined {
  if (list === undefined || list === null) return new Map();
  if (!Array.isArray(list)) return undefined;
  const managers = new Map<string, Manager>();
  for (const entry of list) {
    const manager = readManager(entry, read);
    if (manager === undefined) return undefined;
    const id = idOf(manager);
    const same = managers.get(id);
    managers.set(id, same === undefined ? manager : { ...manager, fields: union(same.fields, manager.fields) });
  }
  return managers;
}

function readManager(entry: unknown, read: typeof fromFieldsV1): Manager | undefined {
  if (!isRecord(entry)) return undefined;
  const operation = entry.operation;
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (entry.fieldsType !== "FieldsV1" || textOf(entry, "apiVersion") === "") return undefined;
  try {
    return {
      name: textOf(entry, "manager"),
      operation,
      apiVersion: textOf(entry, "apiVersion"),
      subresource: textOf(entry, "subresource"),
      time: textOf(entry, "time") || undefined,
      fields: read(entry.fieldsV1 ?? {}),
    };
  } catch {
    return undefined;
  }
}

function textOf(entry: Record<string, unknown>, name: string): string {
  const value = member(entry, name);
  return typeof value === "string" ? value : "";
}

/** `metadata.managedFields`: appliers first, then by time, manager, version and subresource. Entries without fields vanish. */
export function writeManagers(managers: Managers): unknown[] {
  return allPasses(managersWritten(managers));
}

/** `writeManagers` in passes. */
export function* managersWritten(managers: Managers): Passes<unknown[]> {
  const sorted = [...managers.values()].filter((manager) => !isEmptySet(manager.fields));
  const keyOf = (m: Manager): string[] => [m.operation, m.time ?? "", m.name, m.apiVersion, m.subresource];
  sorted.sort((a, b) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    const i = left.findIndex((part, at) => part !== right[at]);
    return i < 0 ? 0 : left[i]! < right[i]! ? -1 : 1;
  });
  const written: unknown[] = [];
  for (const manager of sorted) {
    written.push({
      manager: manager.name,
      operation: manager.operation,
      apiVersion: manager.apiVersion,
      ...(manager.time !== undefined && { time: manager.time }),
      fieldsType: "FieldsV1",
      fieldsV1: yield* toFieldsV1(manager.fields),
      ...(manager.subresource !== "" && { subresource: manager.subresource }),
    });
    yield;
  }
  return written;
}

const SERVER_OWNED = [
  "name",
  "namespace",
  "creationTimestamp",
  "deletionTimestamp",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
];
const UNTRACKED = setOfPaths([
  [memberElement("apiVersion")],
  [memberElement("kind")],
  [memberElement("metadata")],
  ...SERVER_OWNED.map((name) => [memberElement("metadata"), memberElement(name)]),
]);

/** The set without what the server owns in every object. */
export function tracked(fields: FieldSet): FieldSet {
  return difference(fields, UNTRACKED);
}

/** What is wrong with managedFields that a writer sends and that can be read; others are not looked at. */
export function validateManagedFields(list: readonly unknown[]): FieldError[] {
  if (readManagers(list) === undefined) return [];
  return list.flatMap((entry, i) =>
    Buffer.byteLength(textOf(entry as JsonObject, "manager")) > MAX_MANAGER_BYTES
      ? [tooLong(`metadata.managedFields[${i}].manager`, MAX_MANAGER_BYTES)]
      : [],
  );
}
