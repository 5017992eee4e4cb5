import { rfc3339, sameJson } from "@slipway/base";
import { isConversionFault } from "../conversion/conversion.ts";
import { withVersions } from "../conversion/with-versions.ts";
import { type Call, isDryRun, noteWrite } from "../core/call.ts";
import { copyInTurns, sameInTurns } from "../json/passes.ts";
import { letOthersGo, noteSize, type Sized } from "../json/turns.ts";
import { copyJson, isRecord } from "../json/value.ts";
import { apiVersionOf, type Body, type FieldError, METADATA_FIELDS, type MetadataField } from "../model/served.ts";
import { conflict, invalid, MODIFIED, notFound, unreasoned } from "../model/status.ts";
import { type TrackedUpdate, trackInPasses } from "../patch/managed-fields.ts";
import { validateManagedFields } from "../patch/managers.ts";
import { store } from "./create.ts";
import {
  asIfStored,
  decodeObject,
  letOthersWrite,
  managerOf,
  nameless,
  placeOf,
  toStorage,
  writing,
} from "./object.ts";
import { prepared, type Shown } from "./pipeline.ts";
import { checkWriteOptions } from "./write-options.ts";

const ATTEMPTS = 8;

export interface RewriteOptions {
  /** The new object's managedFields are already right (server-side apply, scale). */
  managed?: boolean;
  /** Which part may change, where that is not what the call's subresource says. */
  subresource?: string;
  /** Set for subresources of another kind. */
  shown?: Shown;
}

/** PUT. The body's `resourceVersion` guards the write; custom resources must carry one. Some kinds are created by it. */
export async function update(call: Call): Promise<{ object: Body; created: boolean }> {
  checkWriteOptions(call, "UpdateOptions");
  const object = decodeObject(call, call.body);
  await letOthersGo(call);
  requireName(call);
  const { collection, key } = placeOf(call);
  const creates = call.resource.createsOnUpdate === true && call.subresource === "";
  if (creates && call.core.store.get(collection, key) === undefined)
    return { object: await store(call, object), created: true };
  const changed = await rewrite(call, (live) => {
    guard(call, object.metadata, live);
    return copyInTurns(call, object);
  });
  return { object: changed, created: false };
}

/** A replacement says which object it is for, though the path does too. */
export function requireName({ body, name }: Call): void {
  const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
  if (metadata.name === undefined || metadata.name === "" || metadata.name === null) throw nameless(name);
}

/** What is to be written says over which version, where the kind demands it. Throws Invalid. */
export function requireVersion({ resource, name }: Call, { resourceVersion = "" }: Body["metadata"]): void {
  if ((!resource.builtIn || resource.needsVersion === true) && (resourceVersion === "" || resourceVersion === "0"))
    throw invalid({ ...resource, kind: resource.plural }, name, [
      {
        field: "metadata.resourceVersion",
        reason: "FieldValueInvalid",
        message: "Invalid value: 0: must be specified for an update",
      },
    ]);
}

/** A replacement must mean the object that is there: by its uid where it carries one, by its version where the kind demands it. */
function guard(call: Call, given: Body["metadata"], live: Body): void {
  const { resource, name, namespace } = call;
  const { uid = "" } = given;
  requireVersion(call, given);
  if (uid === "" || uid === live.metadata.uid) return;
  const place = [
    ...(resource.builtIn ? [] : [resource.group]),
    resource.plural,
    ...(namespace === "" ? [] : [namespace]),
  ];
  throw conflict(
    resource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${isDryRun(call) ? "" : "/registry"}/${place.join("/")}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`,
  );
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
    noteSize(call, live);
    await letOthersGo(call);
    const proposed = await change(live);
    await letOthersGo(call);
    const next = await prepare(call, live, proposed, options);
    if (next === undefined) return live;
    if (isDryRun(call)) return await asIfStored(call, next);
    const version = stored.metadata.resourceVersion;
    if (isFinished(next)) {
      if (core.store.remove(collection, key, version) === undefined) continue;
      noteWrite(call);
      return next;
    }
    const kept = await toStorage(call, next);
    await letOthersWrite(call);
    if (core.store.put(collection, key, kept, version) === undefined) continue;
    noteWrite(call);
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
  const { shown, managed = false, subresource = call.subresource } = options;
  const now = core.clock.now();
  const time = rfc3339(now);
  const badOwners = sentOwners(proposed, live, options);
  const isUnowned = managed && proposed.metadata.managedFields === undefined;
  await letOthersGo(call);
  const taken = await take(call, live, proposed, subresource);
  // An apply that states nothing may leave an object that nobody owns.
  if (isUnowned) delete taken.metadata.managedFields;
  const next = await prepared(call, taken, {
    operation: "UPDATE",
    live,
    subresource,
    shown,
    errors: resource.builtIn ? badOwners : [],
    async own(object) {
      if (!managed)
        object.metadata.managedFields = await ownersAfter(call, { before: live, after: object, subresource, time });
    },
    async complete(object, isChanged) {
      const whole = isChanged && shown === undefined ? await take(call, live, object, subresource) : object;
      if (subresource === "") resource.prepareUpdate?.(whole, live, now);
      return whole;
    },
    async count(object) {
      if (resource.hasGeneration && subresource !== "binding" && (await specChanged(call, object, live)))
        object.metadata.generation = (live.metadata.generation ?? 0) + 1;
    },
  });
  if (next.metadata.managedFields?.length === 0) delete next.metadata.managedFields;
  await letOthersWrite(call);
  return (await isUnchanged(writing(call), next, live)) ? undefined : next;
}

/** None where the object can't be shown in a version that an owner wrote in: upstream refuses no write for that (`UpdateNoErrors`). */
async function ownersAfter(
  call: Call,
  written: Pick<TrackedUpdate, "before" | "after" | "subresource" | "time">,
): Promise<unknown[]> {
  const { resource } = call;
  const update = {
    ...written,
    manager: managerOf(call),
    apiVersion: apiVersionOf(resource),
    schema: resource.schema,
    mayNotFit: !resource.builtIn,
  };
  try {
    return await withVersions(call, (inVersion) => trackInPasses({ ...update, inVersion }));
  } catch (error) {
    if (isConversionFault(error)) return [];
    throw error;
  }
}

/** What is wrong with managedFields that the client brought; one empty entry asks for a reset. */
function sentOwners(proposed: Body, live: Body, { managed }: RewriteOptions): FieldError[] {
  const sent = proposed.metadata.managedFields;
  if (managed === true || sent === undefined || sameJson(sent, live.metadata.managedFields)) return [];
  const reset = sent.length === 1 && isRecord(sent[0]) && Object.keys(sent[0]).length === 0;
  return reset ? [] : validateManagedFields(sent);
}

/** `proposed` with everything that the client can't change through this (sub)resource taken from `live`. */
async function take(call: Call, live: Body, proposed: Body, subresource: string): Promise<Body> {
  const { resource } = call;
  const given = proposed.metadata;
  checkVersion(call, given.resourceVersion, live);
  const isPart = subresource === "status" || subresource === "approval";
  const part = isPart ? await copyInTurns(call, live) : proposed;
  if (part !== proposed) {
    if (proposed.status === undefined) delete part.status;
    else part.status = proposed.status;
    if (given.managedFields !== undefined) part.metadata.managedFields = given.managedFields;
    if (resource.builtIn) takeMetadata(part, proposed, resource.statusKeeps ?? []);
  } else if (resource.status && subresource !== "binding") {
    if (live.status === undefined) delete part.status;
    else part.status = copyJson(live.status);
  }
  keepOwned(part, live);
  return part;
}

/** Throws unless the version is the live object's, or none. */
function checkVersion({ resource, name }: Call, given: string | undefined, live: Body): void {
  if (!/^\d*$/.test(given ?? ""))
    throw unreasoned(`strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`);
  const isAny = given === undefined || given === "" || given === "0";
  if (!isAny && given !== live.metadata.resourceVersion) throw conflict(resource, name, MODIFIED);
}

function takeMetadata(part: Body, proposed: Body, keeps: readonly MetadataField[]): void {
  const metadata = part.metadata as unknown as Record<string, unknown>;
  for (const field of METADATA_FIELDS) {
    if (keeps.includes(field)) continue;
    if (proposed.metadata[field] === undefined) delete metadata[field];
    else metadata[field] = proposed.metadata[field];
  }
}

function keepOwned(next: Body, live: Body): void {
  const metadata = next.metadata as unknown as Record<string, unknown>;
  const was = live.metadata as unknown as Record<string, unknown>;
  delete metadata.selfLink;
  for (const field of ["resourceVersion", "creationTimestamp", "generation"]) {
    if (was[field] === undefined) delete metadata[field];
    else metadata[field] = was[field];
  }
  // A mark of deletion never goes; one that is sent where none was is refused.
  for (const field of ["deletionTimestamp", "deletionGracePeriodSeconds"])
    if (was[field] !== undefined) metadata[field] = was[field];
  metadata.uid ||= was.uid;
  if (metadata.managedFields === undefined && was.managedFields !== undefined)
    metadata.managedFields = was.managedFields;
}

/** Whether what the generation counts has changed: everything but metadata and a separate status. */
async function specChanged(call: Call, next: Body, live: Body): Promise<boolean> {
  const wanted = (object: Body): unknown => {
    const rest = {
      ...object,
      ...{ metadata: undefined, apiVersion: undefined },
      ...(call.resource.status === true && { status: undefined }),
    };
    const counted = (call.resource.generationCounts ?? []).map((field) => object.metadata[field]);
    return [rest, counted];
  };
  return !(await sameInTurns(call, wanted(next), wanted(live)));
}

/** Field ownership counts as a change, its time stamps don't. Owners are compared last: an object that changed has mostly the same. */
async function isUnchanged(call: Sized, next: Body, live: Body): Promise<boolean> {
  const [is, was] = [next, live].map((object) => ({ ...object, metadata: undefined }));
  if (!(await sameInTurns(call, is, was))) return false;
  return await sameInTurns(call, withoutTimes(next.metadata), withoutTimes(live.metadata));
}

function withoutTimes(metadata: Body["metadata"]): Body["metadata"] {
  const managedFields = metadata.managedFields?.map((entry) => ({ ...(entry as object), time: undefined }));
  return { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) };
}
