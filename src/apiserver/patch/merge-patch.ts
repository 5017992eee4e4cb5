import { isObject, type JsonObject, member, setMember } from "./json.ts";

/**
 * JSON Merge Patch (RFC 7386 §2): `null` removes a member, an object merges, anything else replaces.
 * Any JSON value is a valid patch, so nothing is refused; whether the result is an object is the caller's question.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setMember(result, key, mergePatch(member(result, key), value));
  }
  return result;
}
