import { isFault, rfc3339 } from "@slipway/base";
import { withVersions } from "../conversion/with-versions.ts";
import type { Call } from "../core/call.ts";
import { shallowCopy } from "../json/members.ts";
import { letOthersGo, passesInTurns } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import type { Body } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, conflict, invalid, notFound, unreasoned } from "../model/status.ts";
import { addWarnings } from "../model/warnings.ts";
import { applyInPasses } from "../patch/apply.ts";
import { Untyped } from "../patch/typed-errors.ts";
import { store } from "./create.ts";
import { grown } from "./grown.ts";
import { placed, placeOf, readObject } from "./object.ts";
import { rewrite } from "./update.ts";
import { readBoolean } from "./write-options.ts";

/** Server-side apply of the call's body. An apply of what does not exist creates it. Options are checked already. */
export async function apply(call: Call): Promise<{ object: Body; created: boolean }> {
  const { core, resource } = call;
  const config = configurationOf(call, { apiVersion: apiVersionOf(resource), kind: resource.kind });
  await letOthersGo(call);
  const given = {
    config: writable(call, config),
    manager: call.query.get("fieldManager") ?? "",
    force: readBoolean(call.query.get("force")),
    subresource: call.subresource,
    apiVersion: apiVersionOf(resource),
    time: rfc3339(core.clock.now()),
    schema: resource.schema,
    untouched: untouchedBy(call),
  };
  const exists = (): boolean => core.store.get(placeOf(call).collection, placeOf(call).key) !== undefined;
  if (!exists()) {
    if (call.subresource !== "") throw notFound(resource, call.name);
    const { object } = await typed(() => passesInTurns(call, applyInPasses({ ...given, live: undefined })));
    reportDuplicates(call);
    await letOthersGo(call);
    const { uid = "" } = object.metadata;
    if (uid !== "")
      throw conflict(
        resource,
        call.name,
        `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      );
    try {
      return { object: await store(call, await decode(call, object), { managed: true }), created: true };
    } catch (error) {
      // Somebody else created it meanwhile: then this apply merges with theirs.
      if (!isFault(error, "AlreadyExists") || !exists()) throw error;
    }
  }
  const object = await rewrite(
    call,
    async (live) => {
      const { object } = await typed(() =>
        withVersions(call, (inVersion) => applyInPasses({ ...given, live, inVersion })),
      );
      reportDuplicates(call);
      await letOthersGo(call);
      return await decode(call, object);
    },
    { managed: true },
  );
  return { object, created: false };
}

/** The body as a configuration of an object of this version and kind. */
export function configurationOf(call: Call, wanted: { apiVersion: string; kind: string }): Body {
  const value = call.body ?? {};
  if (!isRecord(value)) {
    const is = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${is} into Go value of type map[string]interface {}`,
    );
  }
  const { apiVersion = "", kind = "" } = value;
  if (apiVersion !== wanted.apiVersion || kind !== wanted.kind)
    throw badRequest(`invalid object type: ${String(apiVersion) || "/"}, Kind=${String(kind)}`);
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  if (metadata.managedFields !== undefined && metadata.managedFields !== null)
    throw badRequest("metadata.managedFields must be nil");
  const config = shallowCopy(value);
  config.metadata = metadata;
  return config as unknown as Body;
}

/** Keys that stand twice are minded last, as upstream does. */
export function reportDuplicates({ query, duplicates = [], warnings }: Call): void {
  const mode = query.get("fieldValidation") || "Warn";
  for (const text of duplicates) if (mode === "Strict") throw badRequest(`error strict decoding YAML: ${text}`);
  if (mode === "Warn") addWarnings(warnings, duplicates);
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

/** What upstream's strategies reset (`GetResetFields`), as far as whole members go. */
function untouchedBy({ resource, subresource }: Call): readonly ("metadata" | "spec" | "status")[] {
  if (!resource.status) return [];
  if (subresource === "") return ["status"];
  return subresource !== "status" ? [] : resource.builtIn ? ["spec"] : ["metadata", "spec"];
}

/** What does not fit the schema is reported by upstream as an error of no kind. */
export async function typed<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Untyped ? unreasoned(error.message) : error;
  }
}

/** The merged object; what its kind does not know has gone in silence, as upstream drops it. A null where a custom resource may have none is refused: only other writes take it for an absent field. */
async function decode(call: Call, merged: Body): Promise<Body> {
  const copy = await passesInTurns(call, grown(merged, merged.metadata.managedFields));
  await letOthersGo(call);
  const object = placed(call, readObject(call, copy).object);
  const schema = call.core.registry.compiled(call.resource);
  if (schema.nullErrors(object).length === 0) return object;
  throw invalid(call.resource, call.name, schema.validate(object));
}
