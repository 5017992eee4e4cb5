import type { Call } from "../core.ts";
import { apiVersionOf, collectionOf } from "../registry.ts";
import { fieldSelector } from "../select/field-selector.ts";
import { labelSelector } from "../select/label-selector.ts";
import type { Body } from "../served.ts";
import { badRequest, expired, invalid, notFound, refusal } from "../status.ts";
import { placeOf } from "./object.ts";

export interface ObjectList {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: Body[];
}

/** GET of one object. */
export async function get(call: Call): Promise<Body> {
  const { core, resource } = call;
  const { collection, key } = placeOf(call);
  const stored = core.store.get(collection, key);
  if (stored === undefined) throw notFound(resource, call.name);
  await core.registry.ready(resource, [stored]);
  return core.registry.view(resource, stored);
}

/** Which objects of the collection the call selects. */
export function selector(call: Call): { match: (object: Body) => boolean; prefix: string; name: string | undefined } {
  const labels = labelSelector(call.query.get("labelSelector") ?? "");
  const fields = fieldSelector(call.query.get("fieldSelector") || nameSelector(call.name), call.resource);
  if (call.name !== "" && fields.name !== call.name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return {
    match: (object) => labels(object.metadata.labels) && fields.match(object),
    prefix: call.resource.namespaced && call.namespace !== "" ? `${call.namespace}/` : "",
    name: fields.name,
  };
}

/** A watch of the old kind may name its object in the path. */
function nameSelector(name: string): string {
  return name === "" ? "" : `metadata.name=${name}`;
}

/**
 * GET of a collection, whole or by pages. Pages of one list show the collection as it was at the first; when that is forgotten the
 * answer is 410 with a token that goes on from the present.
 */
export async function list(call: Call): Promise<ObjectList> {
  const { core, resource, query } = call;
  const limit = whole(query, "limit") ?? 0;
  const page = start(call);
  const { match, prefix } = selector(call);
  const collection = core.store.collection(collectionOf(resource));
  const version = page.version ?? core.store.version;
  const range =
    page.version === undefined
      ? collection.range(prefix, page.from)
      : collection.rangeAt(page.version, prefix, page.from);
  if (range === undefined) throw tooOld(page.from, page.paging);
  const found = resource.conversion === undefined ? range : [...range];
  if (Array.isArray(found))
    await core.registry.ready(
      resource,
      found.map(([, stored]) => stored),
    );
  const items: Body[] = [];
  let next: string | undefined;
  let more = 0;
  for (const [key, stored] of found) {
    const object = core.registry.view(resource, stored);
    if (!match(object)) continue;
    if (limit === 0 || items.length < limit) items.push(object);
    else {
      next ??= key;
      more++;
    }
  }
  const selecting = (query.get("labelSelector") ?? "") !== "" || (query.get("fieldSelector") ?? "") !== "";
  return {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: String(version),
      ...(next === undefined ? {} : { continue: encodeToken(version, next) }),
      ...(next === undefined || selecting ? {} : { remainingItemCount: more }),
    },
    items,
  };
}

interface Start {
  /** Undefined: the present. */
  version: number | undefined;
  from: string;
  paging: boolean;
}

/** Where the list begins and at which version, from `continue`, `resourceVersion` and `resourceVersionMatch`. */
function start(call: Call): Start {
  const { query, core } = call;
  const token = query.get("continue") ?? "";
  const asked = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  if (match !== "" && token !== "")
    throw listOptions("resourceVersionMatch", "Forbidden: resourceVersionMatch is forbidden when continue is provided");
  if (match !== "" && asked === "")
    throw listOptions(
      "resourceVersionMatch",
      "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
    );
  if (match !== "" && match !== "Exact" && match !== "NotOlderThan")
    throw listOptions(
      "resourceVersionMatch",
      `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`,
    );
  if (match === "Exact" && asked === "0")
    throw listOptions(
      "resourceVersionMatch",
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    );
  if (token !== "") {
    if (asked !== "" && asked !== "0")
      throw badRequest("specifying resource version is not allowed when using continue");
    const { version, from } = decodeToken(token);
    return { version: version > 0 ? version : undefined, from, paging: true };
  }
  const version = parseVersion(asked);
  if (version > core.store.version) throw tooNew(version, core.store.version);
  return { version: match === "Exact" ? version : undefined, from: "", paging: false };
}

/** A `resourceVersion` as a number; empty reads as 0. Throws BadRequest for other text. */
export function parseVersion(text: string): number {
  if (!/^\d{0,15}$/.test(text))
    throw badRequest(`resourceVersion: Invalid value: ${JSON.stringify(text)}: must be a whole number`);
  return Number(text);
}

function tooNew(version: number, current: number) {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return refusal("Timeout", `Too large resource version: ${version}, current: ${current}`, {
    causes,
    retryAfterSeconds: 1,
  });
}

function tooOld(from: string, paging: boolean) {
  if (!paging) return expired("The resourceVersion for the provided list is too old.");
  const message =
    "The provided continue parameter is too old to display a consistent list result. Start over without it, or go on with the token of this answer, which mixes versions.";
  return expired(message, encodeToken(0, from));
}

function listOptions(field: string, message: string) {
  const resource = { group: "meta.k8s.io", plural: "listoptions", kind: "ListOptions" };
  return invalid(resource, "", [{ field, reason: "FieldValueForbidden", message }]);
}

function encodeToken(version: number, from: string): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: version, start: from })).toString("base64url");
}

function decodeToken(token: string): { version: number; from: string } {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString("utf8")) as {
      rv: unknown;
      start: unknown;
    };
    if (typeof start === "string" && Number.isSafeInteger(rv)) return { version: rv as number, from: start };
  } catch {
    // told below
  }
  throw badRequest("continue key is not valid");
}

export function whole(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^-?\d{1,15}$/.test(text))
    throw badRequest(`${name}: Invalid value: ${JSON.stringify(text)}: must be a whole number`);
  return Number(text);
}
