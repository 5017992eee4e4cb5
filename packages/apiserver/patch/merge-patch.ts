import { isLeaf, type JsonObject, member, setMember, shallowCopy } from "../json/members.ts";
import { allPasses, Pace, type Passes } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";

/**
 * JSON Merge Patch (RFC 7386 §2): `null` removes a member, an object merges, anything else replaces. Beyond the RFC, objects
 * in a list lose their nulls, unless the list replaces an object, as upstream.
 * Any JSON value is a valid patch, so nothing is refused; whether the result is an object is the caller's question.
 */
export function* mergePatch(target: unknown, patch: unknown, pace = new Pace()): Passes<unknown> {
  if (!isRecord(patch)) return isRecord(target) ? patch : withoutNulls(patch);
  const result: JsonObject = isRecord(target) ? shallowCopy(target) : {};
  for (const key of Object.keys(patch)) {
    if (pace.isOver()) yield;
    const value = patch[key];
    if (value === null) delete result[key];
    else setMember(result, key, isLeaf(value) ? value : yield* mergePatch(member(result, key), value, pace));
  }
  return result;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isRecord(value) ? allPasses(mergePatch({}, value)) : value;
}
