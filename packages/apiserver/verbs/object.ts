import type { Fault } from "@slipway/base";
import { mediaType } from "../body/body.ts";
import { readHead, Unreadable } from "../body/head.ts";
import { pruned } from "../conversion/views.ts";
import type { Call } from "../core/call.ts";
import { canonicalJson } from "../json/canonical.ts";
import { letOthersGo, Pace, type Passes, passesInTurns, type Sized } from "../json/turns.ts";
import { isRecord } from "../json/value.ts";
import { MAX_STRICT_ERRORS, type Steps, strangeFields } from "../model/duplicates.ts";
import type { Body } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, invalid } from "../model/status.ts";
import { addWarnings } from "../model/warnings.ts";
import { finalizerWarnings, malformedMetadata } from "../rules/metadata.ts";
import { typeOfResource } from "../schema/compile-wire.ts";
import { collectionOf, objectKey } from "../storage/keys.ts";
import { decodeStrict, Undecodable } from "../wire/decode.ts";
import { checkType, readCustom, unreadableBody } from "./custom-object.ts";

/** Where the call's object is kept. */
export function placeOf(call: Call, name = call.name): { collection: string; key: string } {
  return { collection: collectionOf(call.resource), key: objectKey(call.namespace, name) };
}

/** What is stored of an object that was written through the call's resource. A promise only where a converter elsewhere is asked. */
export function toStorage(call: Call, written: Body): Body | Promise<Body> {
  const { resource, core } = call;
  // A copy: V8 keeps an object from which members were deleted as a table, of three times the size for as long as it lives.
  const object = { ...written, metadata: { ...written.metadata } };
  if (resource.toStorage !== undefined) return resource.toStorage(object);
  if (object.apiVersion === resource.storageVersion) return object;
  const stored = resource.versions?.get(resource.storageVersion);
  if (stored !== undefined) return pruned((r) => core.registry.compiled(r), stored, object);
  return { ...object, apiVersion: resource.storageVersion };
}

/** Lets others go before the write, unless it has been given something that they would be given too until it is stored. */
export async function letOthersWrite(call: Call): Promise<void> {
  await letOthersGo(writing(call));
}

/** The call from its last checks to its write: others have their turn only where `letOthersWrite` lets them go. */
export function writing(call: Call): Sized {
  return call.resource.allocate === undefined ? call : {};
}

/** What a dry run answers: the object as it would be read back from what would be stored. */
export async function asIfStored(call: Call, object: Body): Promise<Body> {
  const { resource, core } = call;
  if (resource.versions === undefined || object.apiVersion === resource.storageVersion) return object;
  return await pruned((r) => core.registry.compiled(r), resource, await toStorage(call, object));
}

/**
 * A request's body as an object of the call's kind in the call's place. Throws BadRequest when it is anything else. Unknown and repeated
 * fields are refused, reported as warnings or ignored, as `fieldValidation` asks.
 */
export function decodeObject(call: Call, value: unknown): Body {
  let object: Body;
  try {
    const read = readObject(call, value);
    reportUnknown(call, read);
    object = read.object;
  } catch (error) {
    throw error instanceof Unreadable ? unreadableBody(call, error) : error;
  }
  const expected = apiVersionOf(call.resource);
  if (object.apiVersion !== expected)
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
    );
  if (!call.resource.builtIn) checkType(call, object);
  return placed(call, object);
}

/** An object with what its kind knows, and the paths of the fields that it had beside that. */
export interface ReadObject {
  object: Body;
  unknown: readonly string[];
  /** The ways to the unknown fields of a built-in kind. */
  steps?: readonly Steps[];
}

/** A value as an object of the call's kind, wherever it claims to be. Throws `Unreadable` for what does not decode. */
export function readObject(call: Call, value: unknown): ReadObject {
  const { resource, core } = call;
  if (!resource.builtIn) {
    const object = readCustom(call, value);
    return { object, unknown: core.registry.compiled(resource).prune(object) };
  }
  const expected = apiVersionOf(resource);
  readHead(value);
  if (!isRecord(value)) throw badRequest("the body holds no object");
  const { apiVersion = expected, kind = resource.kind } = value;
  if (kind !== resource.kind || apiVersion !== expected)
    throw new Unreadable(mismatchOf(call, String(apiVersion), String(kind)), true);
  const read = decodeBuiltIn(call, { ...value, apiVersion, kind, metadata: value.metadata ?? {} });
  dropNulls(read.object.metadata as unknown as Record<string, unknown>);
  return read;
}

/** Why a body of another kind is none of this one: it is known and can't be converted, or not known at all. */
function mismatchOf({ core, resource }: Call, apiVersion: string, kind: string): string {
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const known = core.registry.findKind(apiVersion, kind) !== undefined || (kind === "Status" && apiVersion === "v1");
  if (known) {
    const hub = resource.group === "" ? "core" : resource.group.split(".")[0];
    return `converting (${version}.${kind}) to (${hub}.${resource.kind}): unknown conversion`;
  }
  const shown = group === "" ? version : `${group}/${version}`;
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(shown)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** What can't be decoded is reported in the decoder's words. A configuration to apply has been checked against its schema. */
function decodeBuiltIn({ resource, core, contentType }: Call, object: Record<string, unknown>): ReadObject {
  const type = typeOfResource(resource);
  if (type === undefined || mediaType(contentType).startsWith("application/apply-patch")) {
    const wrong = malformedMetadata(object.metadata);
    if (wrong !== undefined) throw new Unreadable(wrong, true);
    return { object: object as Body, unknown: core.registry.compiled(resource).prune(object) };
  }
  try {
    const { value, ...strange } = decodeStrict(type, object, MAX_STRICT_ERRORS);
    return { object: value as Body, ...strange };
  } catch (error) {
    throw error instanceof Undecodable ? new Unreadable(error.message, true) : error;
  }
}

function dropNulls(metadata: Record<string, unknown>): void {
  for (const [field, value] of Object.entries(metadata)) if (value === null) delete metadata[field];
}

/** The object with the call's name and namespace. Throws BadRequest when it has others. */
export function placed(call: Call, object: Body): Body {
  const { metadata } = object;
  if (call.resource.namespaced) {
    if (metadata.namespace !== undefined && metadata.namespace !== "" && metadata.namespace !== call.namespace)
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    metadata.namespace = call.namespace;
  } else delete metadata.namespace;
  if (call.name === "") return object;
  if ((metadata.name ?? "") === "") throw nameless(call.name);
  if (metadata.name !== call.name)
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`);
  return object;
}

/** The refusal of an object that is written to a name, but has none. */
export function nameless(name: string): Fault {
  return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

function reportUnknown(call: Call, read: ReadObject): void {
  const { kind, version } = call.resource;
  const mode = call.query.get("fieldValidation") || "Warn";
  const texts = unknownIn(call, read);
  if (texts.length === 0 || mode === "Ignore") return;
  if (mode === "Strict")
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(", ")}`,
    );
  // What a YAML parser minds comes as one text of several lines.
  const lines = texts.flatMap((text) => text.replace(/^yaml: unmarshal errors:\n/, "").split("\n"));
  addWarnings(
    call.warnings,
    lines.map((line) => line.trim()),
  );
}

/** Fills in the defaults of an object of the call's kind, in place. */
export async function fillIn(call: Call, object: Body): Promise<void> {
  await passesInTurns(call, call.core.registry.compiled(call.resource).fill(object));
}

/** Unknown and repeated fields, in the words of strict decoding. YAML's complaint about repeated ones is one text about them all. */
function unknownIn({ duplicates = [], text }: Call, { unknown, steps }: ReadObject): readonly string[] {
  const isJson = duplicates[0]?.startsWith("duplicate field");
  if (steps !== undefined && isJson && text !== undefined) return strangeFields(text, steps);
  return [...duplicates, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
}

/** Of several equal references to an owner the first stays, and the writer is warned. */
export async function mergeOwners(call: Call, object: Body): Promise<void> {
  await passesInTurns(call, ownersMerged(call, object));
}

/** What it takes to look at an owner, in steps of a walk. */
const STEPS_AN_OWNER = 4;

function* ownersMerged(call: Call, { metadata }: Body): Passes<void> {
  const owners = metadata.ownerReferences ?? [];
  if (owners.length < 2) return;
  const pace = new Pace();
  const first = new Map<string, object>();
  const twice: typeof owners = [];
  for (const owner of owners) {
    if (pace.isOver(STEPS_AN_OWNER)) yield;
    const text = canonicalJson(owner);
    if (first.has(text)) twice.push(owner);
    else first.set(text, owner);
  }
  if (twice.length === 0) return;
  metadata.ownerReferences = [...first.values()] as typeof owners;
  const uids = [...new Set(twice.map(({ uid }) => uid))].join(", ");
  call.warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
  );
}

/** Gives the object what it needs of a shared range. Throws Invalid when that can't be had. */
export function allocate({ resource }: Call, object: Body): void {
  const errors = resource.allocate?.(object) ?? [];
  if (errors.length > 0) throw invalid(resource, object.metadata.name, errors);
}

/** Warns the writer of what the kind advises against. */
export function warn(call: Call, object: Body, old?: Body): void {
  const { builtIn, warnings } = call.resource;
  const ofFinalizers = builtIn ? [] : finalizerWarnings(object, old);
  addWarnings(call.warnings, [...ofFinalizers, ...(warnings?.(object, old) ?? [])]);
}

/** Who owns the fields of this write: what the client says, else the first word of its user agent. */
export function managerOf(call: Call): string {
  return call.query.get("fieldManager") || (call.headers["user-agent"] ?? "").split("/")[0] || "unknown";
}
