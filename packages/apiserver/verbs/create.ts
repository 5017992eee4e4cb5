import { rfc3339, text, uuid } from "@slipway/base";
import type { Attributes } from "../core/attributes.ts";
import { type Call, isDryRun, noteWrite } from "../core/call.ts";
import { permit } from "../core/denial.ts";
import { letOthersGo, passesInTurns } from "../json/turns.ts";
import type { Body, ServedResource } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { alreadyExists, invalid, unreasoned } from "../model/status.ts";
import { trackInPasses } from "../patch/managed-fields.ts";
import { blankObject } from "../schema/compile-wire.ts";
import { asIfStored, decodeObject, letOthersWrite, managerOf, placeOf, toStorage } from "./object.ts";
import { requireOpenNamespace } from "./open-namespace.ts";
import { prepared } from "./pipeline.ts";
import { checkWriteOptions } from "./write-options.ts";

/** Generated names end in five of these: no vowels, no look-alikes. */
const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const GENERATED_NAME_LIMIT = 63 - 5;

/** POST on a collection. Returns the stored object. */
export async function create(call: Call): Promise<Body> {
  checkWriteOptions(call, "CreateOptions");
  const object = decodeObject(call, call.body);
  await letOthersGo(call);
  if (!isDryRun(call) && (object.metadata.resourceVersion ?? "") !== "")
    throw unreasoned("resourceVersion should not be set on objects to be created");
  return store(call, object);
}

/** Creates `object`, which the server may keep. `managed`: its managedFields are already right (server-side apply). */
export async function store(call: Call, object: Body, options: { managed?: boolean } = {}): Promise<Body> {
  const { core, resource } = call;
  await letOthersGo(call);
  const now = core.clock.now();
  requireOpenNamespace(call, object.metadata.name ?? "");
  strip(call, object);
  const next = await prepared(call, object, {
    operation: "CREATE",
    live: undefined,
    subresource: "",
    errors: [],
    async own(object) {
      if (options.managed !== true) await noteOwners(call, object, now);
    },
    complete(object) {
      strip(call, object);
      name(call, object);
      own(call, object, now);
      resource.prepareCreate?.(object, now);
      return object;
    },
    async permit() {
      // An update or apply that creates needs the right to create, too.
      if (call.name !== "") await permit(creationOf(call), core.authorize);
    },
  });
  // What is read gets its defaults, too: those that come of what the server has set.
  resource.setDefaults?.(next);
  await letOthersWrite(call);
  return keep(call, next);
}

async function noteOwners(call: Call, object: Body, now: number): Promise<void> {
  const { resource } = call;
  const { metadata } = object;
  delete metadata.managedFields;
  const tracked = trackInPasses({
    before: undefined,
    blank: blankObject(resource),
    after: owned(resource, object),
    manager: managerOf(call),
    subresource: "",
    apiVersion: apiVersionOf(resource),
    time: rfc3339(now),
    schema: resource.schema,
    mayNotFit: !resource.builtIn,
  });
  const managedFields = await passesInTurns(call, tracked);
  if (managedFields.length > 0) metadata.managedFields = managedFields;
}

async function keep(call: Call, object: Body): Promise<Body> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call, object.metadata.name);
  if (core.store.get(collection, key) !== undefined) throw alreadyExists(resource, object.metadata.name);
  if (isDryRun(call)) return await asIfStored(call, object);
  const stored = await toStorage(call, object);
  // Admission may have taken time; the namespace could have been closed meanwhile.
  requireOpenNamespace(call, object.metadata.name);
  if (core.store.put(collection, key, stored, undefined) === undefined)
    throw alreadyExists(resource, object.metadata.name);
  noteWrite(call);
  core.registry.remember(resource, stored);
  await core.registry.ready(resource, [stored]);
  return core.registry.view(resource, stored);
}

function name(call: Call, { metadata }: Body): void {
  if (metadata.name !== undefined && metadata.name !== "") return;
  if (metadata.generateName === undefined || metadata.generateName === "")
    throw invalid(call.resource, "", [
      {
        field: "metadata.name",
        reason: "FieldValueRequired",
        message: "Required value: name or generateName is required",
      },
    ]);
  metadata.name = metadata.generateName.slice(0, GENERATED_NAME_LIMIT) + text(call.core.random, 5, SUFFIX_ALPHABET);
}

function creationOf({ user, resource: { group, version, plural }, namespace, name }: Call): Attributes {
  return { user, verb: "create", group, version, plural, subresource: "", namespace, name, path: "" };
}

/** What a writer can come to own: not what a create resets. */
function owned(resource: ServedResource, object: Body): Body {
  if (resource.untracked === true) return { ...blankObject(resource), metadata: object.metadata } as Body;
  if (!resource.status) return object;
  const { status: _status, ...rest } = object;
  const status = blankObject(resource)?.status;
  return (status === undefined ? rest : { ...rest, status }) as Body;
}

/** Takes away what only the server sets. */
function strip(call: Call, object: Body): void {
  const metadata: Partial<Body["metadata"]> & { selfLink?: string } = object.metadata;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  // Only what is to be kept may not have one.
  if (!isDryRun(call)) delete metadata.resourceVersion;
  delete metadata.uid;
  delete metadata.creationTimestamp;
  // Where nothing counts, what is sent stands.
  if (call.resource.hasGeneration) delete metadata.generation;
  if (call.resource.status && call.resource.keepsStatus !== true) delete object.status;
}

/** Fills in what only the server sets. */
function own(call: Call, { metadata }: Body, now: number): void {
  const { core, resource } = call;
  metadata.uid = uuid(core.random);
  metadata.creationTimestamp = rfc3339(now);
  if (resource.hasGeneration) metadata.generation = 1;
}
