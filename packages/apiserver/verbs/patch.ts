import { isFault } from "@slipway/base";
import { mediaType } from "../body/body.ts";
import { readHead, Unreadable } from "../body/head.ts";
import type { Call } from "../core/call.ts";
import { canonicalJson } from "../json/canonical.ts";
import { letOthersGo, type Passes, passesInTurns } from "../json/turns.ts";
import { copyJson, isRecord } from "../json/value.ts";
import { invalid as invalidField } from "../model/field-error.ts";
import type { Body, Schema } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, invalid, refusal, statusOfError } from "../model/status.ts";
import { addWarnings } from "../model/warnings.ts";
import { goValue } from "../patch/go-value.ts";
import { type JsonPatchOperation, jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic.ts";
import { typeOfResource } from "../schema/compile-wire.ts";
import { conversionComplaint } from "../wire/convert.ts";
import { apply } from "./apply.ts";
import { checkType } from "./custom-object.ts";
import { grown } from "./grown.ts";
import { nameless, placed, type ReadObject, readObject } from "./object.ts";
import { requireVersion, rewrite } from "./update.ts";
import { checkWriteOptions } from "./write-options.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";

const MAX_JSON_PATCH_OPERATIONS = 10_000;
/** What a JSON patch's operations may say; strict validation reports more. */
const OPERATION_FIELDS = new Set(["op", "path", "from", "value"]);

/** PATCH of an object or its status. An apply of what does not exist creates it. */
export async function patch(call: Call): Promise<{ object: Body; created: boolean }> {
  const isApply = mediaType(call.contentType) === APPLY;
  checkWriteOptions(call, "PatchOptions", isApply);
  if (isApply) return apply(call);
  const change = patcher(call, call.resource.schema);
  const strange = unknownIn(call);
  // The text of a patch is not that of the object.
  const textless = { ...call, text: undefined };
  const object = await rewrite(call, async (live) => {
    const changed = await passesInTurns(call, change(live));
    await letOthersGo(call);
    const patched = await passesInTurns(call, grown(changed, live.metadata.managedFields));
    await letOthersGo(call);
    const next = decodePatched(textless, patched, strange);
    requireVersion(call, next.metadata);
    return next;
  });
  return { object, created: false };
}

/**
 * A patched object, which may have become anything. What can't be read, or is not known under strict validation, is `Invalid`, since the
 * body itself was well. `strange`: what strict validation minds in the patch.
 */
function decodePatched(call: Call, patched: unknown, strange: readonly string[]): Body {
  const isStrategic = mediaType(call.contentType) === STRATEGIC;
  const mode = call.query.get("fieldValidation") || "Warn";
  // A refusal for what is unknown shows it.
  const shown = mode === "Strict" ? copyJson(patched) : patched;
  const refuse = (why: string) =>
    invalid({ group: "", plural: "", kind: "" }, "", [
      invalidField("patch", isStrategic ? goValue(call.body) : canonicalJson(shown), why),
    ]);
  if (isStrategic) {
    const type = typeOfResource(call.resource);
    const complaint = type === undefined ? undefined : conversionComplaint(type, patched);
    if (complaint !== undefined) throw refuse(complaint);
    // What the object says of its own kind is not looked at.
    Object.assign(patched as object, { apiVersion: apiVersionOf(call.resource), kind: call.resource.kind });
  }
  let read: ReadObject;
  try {
    read = readObject(call, patched);
  } catch (error) {
    if (error instanceof Unreadable) throw refuse(error.message);
    if (!isFault(error, "BadRequest")) throw error;
    throw refuse(statusOfError(error).message ?? "");
  }
  const unversioned = isUnversioned(call, patched);
  if (!call.resource.builtIn) checkType(call, read.object);
  // Without a version an object counts as one of a type that has none of its fields, not even a name.
  const unknown = unversioned
    ? Object.keys(patched as object)
        .filter((field) => field !== "kind")
        .sort()
    : read.unknown;
  const texts = [...strange, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
  if (texts.length > 0 && mode === "Strict") throw refuse(`strict decoding error: ${texts.join(", ")}`);
  if (mode === "Warn") addWarnings(call.warnings, texts);
  if (unversioned) throw nameless(call.name);
  return placed(call, read.object);
}

/** Whether a patch has taken the `apiVersion` of an object. Upstream can't read a custom resource then, and says so as its own failure. */
function isUnversioned({ resource }: Call, patched: unknown): boolean {
  if (readHead(patched).apiVersion !== undefined) return false;
  if (resource.builtIn) return true;
  const why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
  throw refusal("Internal", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

/** What strict validation minds in the patch itself. */
function unknownIn({ contentType, body, duplicates = [] }: Call): string[] {
  const isOperations = mediaType(contentType) === JSON_PATCH;
  const texts = [...duplicates];
  if (isOperations && Array.isArray(body))
    for (const [i, op] of body.entries())
      for (const key of Object.keys(op ?? {}))
        if (!OPERATION_FIELDS.has(key)) texts.push(`unknown field "[${i}].${key}"`);
  return isOperations ? texts.map((text) => `json patch ${text}`) : texts;
}

/** A patch as a pure function, in passes. */
export type Patcher = (target: unknown) => Passes<unknown>;

/** The patch of the call's body and content type; types that the kind does not take were refused with the body unread. Throws BadRequest. */
export function patcher(call: Call, schema: Schema): Patcher {
  const { body } = call;
  switch (mediaType(call.contentType)) {
    case JSON_PATCH: {
      const operations = readOperations(body);
      return function* (target) {
        try {
          return yield* jsonPatch(target, operations);
        } catch (error) {
          if (!isFault(error, "Invalid")) throw error;
          throw refusal("Invalid", "the server rejected our request due to an error in our request", {});
        }
      };
    }
    case MERGE_PATCH:
      if (body === null) throw badRequest("Invalid JSON Patch");
      if (!isRecord(body)) throw badRequest(`error decoding patch: ${mistyped(body, "map[string]interface {}")}`);
      return (target) => mergePatch(target, body);
    default:
      if (!isRecord(body)) throw badRequest(mistyped(body, "map[string]interface {}"));
      return (target) => strategicMerge(target, body, schema);
  }
}

function readOperations(body: unknown): JsonPatchOperation[] {
  const operations = body ?? [];
  if (!Array.isArray(operations)) throw badRequest(`error decoding patch: ${mistyped(body, "[]handlers.jsonPatchOp")}`);
  for (const op of operations)
    if (op !== null && !isRecord(op)) throw badRequest(`error decoding patch: ${mistyped(op, "handlers.jsonPatchOp")}`);
  if (operations.length > MAX_JSON_PATCH_OPERATIONS)
    throw refusal(
      "TooLarge",
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${operations.length}`,
    );
  return operations.map((op) => op ?? {});
}

/** The error of Go's decoder for a JSON value in the place of another type. */
function mistyped(value: unknown, wanted: string): string {
  const is = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${is} into Go value of type ${wanted}`;
}
