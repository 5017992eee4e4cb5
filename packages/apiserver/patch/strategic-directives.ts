import { type JsonObject, refusal } from "../json/members.ts";
import { isRecord } from "../json/value.ts";
import { unreasoned } from "../model/status.ts";
import { goType, goValue } from "./go-value.ts";

/** The directives of a strategic merge patch, as `kubectl apply` writes them. */
export const PATCH = "$patch";
export const RETAIN_KEYS = "$retainKeys";
export const DELETE_FROM_LIST = "$deleteFromPrimitiveList/";
export const SET_ORDER = "$setElementOrder/";

export type PatchDirective = "delete" | "replace" | "merge";

/** Whether a member of a patch is an order to the merge instead of a value. */
export function isDirective(key: string): boolean {
  return key === PATCH || key === RETAIN_KEYS || key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);
}

/** What `$patch` says; undefined where it is absent. */
export function patchDirective(patch: JsonObject): PatchDirective | undefined {
  if (!Object.hasOwn(patch, PATCH)) return undefined;
  const value = patch[PATCH];
  if (value === "delete" || value === "replace" || value === "merge") return value;
  throw failed(`unknown patch type: ${goValue(value)} in map: ${goValue(patch)}`);
}

/** The members that `$retainKeys` leaves in place. Each member the patch sets must be among them. */
export function retainedKeys(patch: JsonObject): Set<unknown> | undefined {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return undefined;
  const listed = patch[RETAIN_KEYS];
  if (!Array.isArray(listed)) throw malformed("invalid patch format of retainKeys");
  const kept = new Set<unknown>(listed);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || isDirective(key) || kept.has(key)) continue;
    throw malformed("invalid patch format of retainKeys");
  }
  return kept;
}

/** The list under a `$deleteFromPrimitiveList/x` or `$setElementOrder/x`; undefined where the directive is absent. */
export function listDirective(patch: JsonObject, key: string): unknown[] | undefined {
  if (!Object.hasOwn(patch, key)) return undefined;
  const value = patch[key];
  if (!Array.isArray(value) && key.startsWith(DELETE_FROM_LIST)) return undefined;
  if (!Array.isArray(value)) throw failed(`expected a []interface {}, but received a ${goType(value)}`);
  return value;
}

/** A value taken over from a patch as it is: nulls and directives in it have nothing to act on and vanish. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isRecord(item) && item[PATCH] === "delete")).map(withoutDirectives);
  }
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key, below]) => below !== null && !isDirective(key));
  return Object.fromEntries(kept.map(([key, below]) => [key, withoutDirectives(below)]));
}

/** A patch that is no strategic merge patch, in upstream's words. */
function malformed(message: string) {
  return refusal("BadRequest", "strategic merge patch", message);
}

/** What upstream's merge fails at: a plain error, which its server answers as its own failure. */
export function failed(message: string) {
  return unreasoned(message);
}
