import { rfc3339 } from "../../base/clock.ts";
import { isFault } from "../../base/fault.ts";
import { mediaType, unsupported } from "../body.ts";
import type { Call } from "../core.ts";
import { copyJson, isRecord } from "../json-value.ts";
import { applyConfiguration } from "../patch/apply.ts";
import { type JsonPatchOperation, jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic.ts";
import { apiVersionOf } from "../registry.ts";
import type { Body, Schema } from "../served.ts";
import { badRequest, notFound, refusal } from "../status.ts";
import { store } from "./create.ts";
import { decodeObject, placeOf } from "./object.ts";
import { rewrite } from "./update.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
export const APPLY = "application/apply-patch+yaml";

const MAX_JSON_PATCH_OPERATIONS = 10_000;

/** PATCH of an object or its status. An apply of what does not exist creates it. */
export async function patch(call: Call): Promise<{ object: Body; created: boolean }> {
  if (mediaType(call.contentType) === APPLY) return apply(call);
  const change = patcher(call, call.resource.schema);
  return { object: await rewrite(call, (live) => decodeObject(call, copyJson(change(live)))), created: false };
}

/** The patch of the call's body and content type as a pure function. Throws UnsupportedMediaType for types that the kind does not take. */
export function patcher(call: Call, schema: Schema): (target: unknown) => unknown {
  const { body, resource } = call;
  switch (mediaType(call.contentType)) {
    case JSON_PATCH:
      if (!Array.isArray(body)) throw badRequest("a JSON patch is a list of operations");
      if (body.length > MAX_JSON_PATCH_OPERATIONS)
        throw refusal(
          "TooLarge",
          `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${body.length}`,
        );
      return (target) => jsonPatch(target, body as JsonPatchOperation[]);
    case MERGE_PATCH:
      if (!isRecord(body)) throw badRequest("a merge patch of an object is an object");
      return (target) => mergePatch(target, body);
    case STRATEGIC:
      if (!isRecord(body)) throw badRequest("a strategic merge patch is an object");
      if (resource.builtIn) return (target) => strategicMerge(target, body, schema);
  }
  throw unsupported([JSON_PATCH, MERGE_PATCH, ...(resource.builtIn ? [STRATEGIC] : []), APPLY]);
}

/** The part of a configuration that this (sub)resource writes: nobody comes to own what their write did not set. */
function writable({ resource, subresource }: Call, config: Body): Body {
  if (!resource.status) return config;
  const { status, ...rest } = config;
  if (subresource === "") return rest as Body;
  const { apiVersion, kind, metadata } = config;
  const { name, namespace, uid, resourceVersion } = metadata;
  const identity = Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined);
  const only = { apiVersion, kind, metadata: Object.fromEntries(identity) };
  return (status === undefined ? only : { ...only, status }) as unknown as Body;
}

async function apply(call: Call): Promise<{ object: Body; created: boolean }> {
  const { core, resource } = call;
  const manager = call.query.get("fieldManager") ?? "";
  if (manager === "")
    throw refusal(
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      {
        group: "meta.k8s.io",
        kind: "PatchOptions",
        causes: [
          {
            reason: "FieldValueRequired",
            message: "Required value: is required for apply patch",
            field: "fieldManager",
          },
        ],
      },
    );
  const config = decodeObject(call, call.body);
  if ((config.metadata.managedFields ?? []).length > 0) throw badRequest("metadata.managedFields must be nil");
  const given = {
    config: writable(call, config),
    manager,
    force: call.query.get("force") === "true",
    subresource: call.subresource,
    apiVersion: apiVersionOf(resource),
    time: rfc3339(core.clock.now()),
    schema: resource.schema,
  };
  const exists = (): boolean => core.store.get(placeOf(call).collection, placeOf(call).key) !== undefined;
  if (!exists()) {
    if (call.subresource !== "" || (config.metadata.uid ?? "") !== "") throw notFound(resource, call.name);
    const { object } = applyConfiguration({ ...given, live: undefined });
    try {
      return { object: await store(call, decodeObject(call, copyJson(object)), { managed: true }), created: true };
    } catch (error) {
      // Somebody else created it meanwhile: then this apply merges with theirs.
      if (!isFault(error, "AlreadyExists") || !exists()) throw error;
    }
  }
  const object = await rewrite(
    call,
    (live) => decodeObject(call, copyJson(applyConfiguration({ ...given, live }).object)),
    { managed: true },
  );
  return { object, created: false };
}
