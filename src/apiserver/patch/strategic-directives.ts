import { isObject, type JsonObject, refusal } from "./json.ts";

/** The directives of a strategic merge patch, as `kubectl apply` writes them. */
export const PATCH = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList/";
export const SET_ORDER = "$setElementOrder/";

export type PatchDirective = "delete" | "replace" | "merge";

export function isDirective(key: string): boolean {
  return key === PATCH || key === RETAIN_KEYS || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
}

/** What `$patch` says; undefined where it is absent. */
export function patchDirective(patch: JsonObject, path: string): PatchDirective | undefined {
  if (!Object.hasOwn(patch, PATCH)) return undefined;
  const value = patch[PATCH];
  if (value === "delete" || value === "replace" || value === "merge") return value;
  throw malformed(`${path}.${PATCH}`, `unknown patch type found: ${JSON.stringify(value)}`);
}

/** The members that `$retainKeys` leaves in place. Each member the patch sets must be among them. */
export function retainedKeys(patch: JsonObject, path: string): Set<string> | undefined {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return undefined;
  const listed = patch[RETAIN_KEYS];
  if (!Array.isArray(listed) || !listed.every((key) => typeof key === "string")) {
    throw malformed(`${path}.${RETAIN_KEYS}`, "must be a list of strings");
  }
  const kept = new Set<string>(listed);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || isDirective(key) || kept.has(key)) continue;
    throw malformed(`${path}.${RETAIN_KEYS}`, `the list must hold every member that the patch sets; ${key} is missing`);
  }
  return kept;
}

/** The list under a `$deleteFromPrimitiveList/x` or `$setElementOrder/x`; undefined where the directive is absent. */
export function listDirective(patch: JsonObject, key: string, path: string): unknown[] | undefined {
  if (!Object.hasOwn(patch, key)) return undefined;
  const value = patch[key];
  if (!Array.isArray(value)) throw malformed(`${path}.${key}`, "must be a list");
  return value;
}

/** A value taken over from a patch as it is: nulls and directives in it have nothing to act on and vanish. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isObject(item) && item[PATCH] === "delete")).map(withoutDirectives);
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key, below]) => below !== null && !isDirective(key));
  return Object.fromEntries(kept.map(([key, below]) => [key, withoutDirectives(below)]));
}

function malformed(path: string, message: string) {
  return refusal("BadRequest", "strategic merge patch", `${path}: ${message}`);
}
