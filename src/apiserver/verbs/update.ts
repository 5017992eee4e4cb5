import { rfc3339 } from "../../base/clock.ts";
import { withVersions } from "../conversion/with-versions.ts";
import { admit, approve, type Call, isDryRun } from "../core.ts";
import { withVersions } from "../conversion/with-versions.ts";
import { copyJson, isRecord, sameJson } from "../json-value.ts";
import { trackUpdate } from "../patch/managed-fields.ts";
import { validateManagedFields } from "../patch/managers.ts";
import { apiVersionOf } from "../registry.ts";
import { metadataErrors } from "../rules/metadata.ts";
import type { Body, FieldError } from "../served.ts";
import { conflict, invalid, MODIFIED, notFound } from "../status.ts";
import { writeOut } from "../wire/compile.ts";
import { asIfStored, decodeObject, managerOf, placeOf, tidy, toStorage } from "./object.ts";

const ATTEMPTS = 8;

export interface RewriteOptions {
  /** The new object's managedFields are already right (server-side apply). */
  managed?: boolean;
  /** Which part may change, where that is not what the call's subresource says. */
  subresource?: string;
  /** The subresource that field ownership is noted under, where that differs from the part that changes. */
  trackedAs?: string;
}

/** PUT. The body's `resourceVersion` guards the write; custom resources must carry one. */
export async function update(call: Call): Promise<Body> {
  const object = decodeObject(call, call.body);
  const version = object.metadata.resourceVersion;
  if ((!call.resource.builtIn || call.resource.needsVersion === true) && (version === undefined || version === ""))
    throw invalid({ ...call.resource, kind: call.resource.plural }, call.name, [
      {
        field: "metadata.resourceVersion",
        reason: "FieldValueInvalid",
        message: "Invalid value: 0: must be specified for an update",
      },
    ]);
  return rewrite(call, () => copyJson(object));
}

/**
 * Reads, changes and stores one object; again when another write came between. `change` gets the present object, read-only, and
 * returns a new one. A `resourceVersion` it sets must be the present one. A write that changes nothing keeps the version.
 */
export async function rewrite(
  call: Call,
  change: (live: Body) => Body | Promise<Body>,
  options: RewriteOptions = {},
): Promise<Body> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = core.store.get(collection, key);
    if (stored === undefined) throw notFound(resource, call.name);
    await core.registry.ready(resource, [stored]);
    const live = core.registry.view(resource, stored);
    const next = await prepare(call, live, await change(live), options);
    if (next === undefined) return live;
    if (isDryRun(call)) return await asIfStored(call, next);
    const version = stored.metadata.resourceVersion;
    if (isFinished(next)) {
      if (core.store.remove(collection, key, version) !== undefined) return next;
      continue;
    }
    const kept = await toStorage(call, next);
    if (core.store.put(collection, key, kept, version) === undefined) continue;
    core.registry.remember(resource, kept);
    await core.registry.ready(resource, [kept]);
    return core.registry.view(resource, kept);
  }
  throw conflict(resource, call.name, MODIFIED);
}

/** Nothing holds a deleted object any more. */
export function isFinished(object: Body): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  const spec = object.spec as { finalizers?: string[] } | undefined;
  return object.kind !== "Namespace" || object.apiVersion !== "v1" || (spec?.finalizers ?? []).length === 0;
}

/** The object as it would be stored, or undefined when nothing changes. */
async function prepare(call: Call, live: Body, proposed: Body, options: RewriteOptions): Promise<Body | undefined> {
  const { core, resource } = call;
  const subresource = options.subresource ?? call.subresource;
  const now = core.clock.now();
  const badOwners = sentOwners(proposed, live, options);
  let next = take(call, live, proposed, subresource);
  tidy(call, next);
  // Fields that webhooks add belong to nobody, so owners are noted before they are asked.
  if (options.managed !== true) {
    const update = {
      before: live,
      after: next,
      manager: managerOf(call),
      subresource: options.trackedAs ?? subresource,
      apiVersion: apiVersionOf(resource),
      time: rfc3339(now),
      schema: resource.schema,
    };
    next.metadata.managedFields = await withVersions(call, (inVersion) => trackUpdate({ ...update, inVersion }));
  }
  if (await admit(call, "UPDATE", next, live)) next = take(call, live, next, subresource);
  if (subresource === "") resource.prepareUpdate?.(next, live, now);
  writeOut(resource, next);
  if (resource.hasGeneration && specOf(call, next, live))
    next.metadata.generation = (live.metadata.generation ?? 0) + 1;
  const errors = [
    ...badOwners,
    ...metadataErrors(next, resource, live),
    ...core.registry.compiled(resource).validate(next, live),
    ...(resource.validate?.(next, live) ?? []),
  ];
  if (errors.length > 0) throw invalid(resource, call.name, errors);
  await approve(call, "UPDATE", next, live);
  if (next.metadata.managedFields?.length === 0) delete next.metadata.managedFields;
  return sameJson(withoutTimes(next), withoutTimes(live)) ? undefined : next;
}

/** What is wrong with managedFields that the client brought; one empty entry asks for a reset. */
function sentOwners(proposed: Body, live: Body, { managed }: RewriteOptions): FieldError[] {
  const sent = proposed.metadata.managedFields;
  if (managed === true || sent === undefined || sameJson(sent, live.metadata.managedFields)) return [];
  const reset = sent.length === 1 && isRecord(sent[0]) && Object.keys(sent[0]).length === 0;
  return reset ? [] : validateManagedFields(sent);
}

/** `proposed` with everything that the client can't change through this (sub)resource taken from `live`. */
function take(call: Call, live: Body, proposed: Body, subresource: string): Body {
  const { resource } = call;
  const given = proposed.metadata;
  if (given.uid !== undefined && given.uid !== "" && given.uid !== live.metadata.uid)
    throw conflict(
      resource,
      call.name,
      `Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${live.metadata.uid}`,
    );
  if (
    given.resourceVersion !== undefined &&
    given.resourceVersion !== "" &&
    given.resourceVersion !== live.metadata.resourceVersion
  )
    throw conflict(resource, call.name, MODIFIED);
  const part = subresource === "status" || subresource === "approval" ? copyJson(live) : proposed;
  if (part !== proposed) {
    if (proposed.status === undefined) delete part.status;
    else part.status = proposed.status;
    if (given.managedFields !== undefined) part.metadata.managedFields = given.managedFields;
  } else if (resource.status) {
    if (live.status === undefined) delete part.status;
    else part.status = copyJson(live.status);
  }
  keepOwned(part, live);
  return part;
}

function keepOwned(next: Body, live: Body): void {
  const metadata = next.metadata as unknown as Record<string, unknown>;
  const was = live.metadata as unknown as Record<string, unknown>;
  delete metadata.selfLink;
  for (const field of [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "generateName",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
  ]) {
    if (was[field] === undefined) delete metadata[field];
    else metadata[field] = was[field];
  }
  if (metadata.managedFields === undefined && was.managedFields !== undefined)
    metadata.managedFields = was.managedFields;
}

/** Whether what the generation counts has changed: everything but metadata and a separate status. */
function specOf(call: Call, next: Body, live: Body): boolean {
  const wanted = (object: Body): unknown => {
    const { metadata: _metadata, apiVersion: __, ...rest } = object;
    if (call.resource.status) delete rest.status;
    const counted = (call.resource.generationCounts ?? []).map((field) => object.metadata[field] ?? {});
    return [rest, counted];
  };
  return !sameJson(wanted(next), wanted(live));
}

/** Field ownership counts as a change, its time stamps don't. */
function withoutTimes(object: Body): Body {
  const managedFields = object.metadata.managedFields?.map((entry) => ({ ...(entry as object), time: undefined }));
  return { ...object, metadata: { ...object.metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
}
