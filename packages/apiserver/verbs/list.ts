import type { Call } from "../core/call.ts";
import { partsInTurns } from "../json/turns.ts";
import type { Body } from "../model/served.ts";
import { apiVersionOf } from "../model/served.ts";
import { badRequest, expired, notFound, refusal } from "../model/status.ts";
import { fieldSelector } from "../select/field-selector.ts";
import { labelSelector } from "../select/label-selector.ts";
import { collectionOf } from "../storage/keys.ts";
import { decodeToken, encodeToken } from "./continue-token.ts";
import { flag, type ListOptions, listOptions, parseVersion, parseVersionOfRead } from "./list-options.ts";
import { placeOf } from "./object.ts";

/** How many objects of a list are looked at before others have their turn. */
const LISTED_AT_ONCE = 2000;

export interface ObjectList {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: Body[];
}

/** GET of one object. */
export async function get(call: Call): Promise<Body> {
  const { core, resource, query } = call;
  if (flag(query, "export")) throw badRequest("the export parameter, deprecated since v1.14, is no longer supported");
  const version = parseVersionOfRead(query.get("resourceVersion") ?? "");
  if (version > core.store.version) throw tooNew(version, core.store.version);
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
  const options = listOptions(query, false);
  const { match, prefix } = selector(call);
  const { version: pinned, from, limit } = start(options, core.store.version);
  const collection = core.store.collection(collectionOf(resource));
  const version = pinned ?? core.store.version;
  // What follows is counted whether selected or not, so with a selector the count would say nothing.
  const selecting = (query.get("labelSelector") ?? "") !== "" || (query.get("fieldSelector") ?? "") !== "";
  const isPage = limit > 0 && !selecting && (pinned === undefined || collection.isAsAt(pinned));
  const now = collection.range(prefix, prefix + from);
  const range = isPage
    ? now.take(limit)
    : pinned === undefined
      ? now
      : collection.rangeAt(pinned, prefix, prefix + from);
  if (range === undefined) throw tooOld(from);
  // As it is now: others may have their turn while the answer is made of it.
  const found = [...range];
  let more = isPage ? collection.count(prefix, prefix + from) - found.length : 0;
  if (resource.conversion !== undefined)
    await core.registry.ready(
      resource,
      found.map(([, stored]) => stored),
    );
  const items: Body[] = [];
  let last = "";
  // What was converted is to be had in the same turn only.
  const size = resource.conversion === undefined ? LISTED_AT_ONCE : Number.POSITIVE_INFINITY;
  for await (const part of partsInTurns(found, size))
    for (const [key, stored] of part) {
      if (limit > 0 && items.length === limit) more++;
      else {
        const object = core.registry.view(resource, stored);
        if (!match(object)) continue;
        items.push(object);
        last = key.slice(prefix.length);
      }
    }
  return {
    kind: resource.listKind,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: String(version),
      ...(more > 0 && { continue: encodeToken({ version, from: `${last}\0` }) }),
      ...(more > 0 && !selecting && { remainingItemCount: more }),
    },
    items,
  };
}

interface Start {
  /** Undefined: the present. */
  version: number | undefined;
  /** Below the prefix. */
  from: string;
  limit: number;
}

/** Where the list begins, at which version, and how far it goes at most. */
function start(options: ListOptions, current: number): Start {
  const { limit, resourceVersion, resourceVersionMatch: match } = options;
  if (options.continue !== "") {
    if (resourceVersion !== "" && resourceVersion !== "0")
      throw badRequest("specifying resource version is not allowed when using continue");
    const { version, from } = decodeToken(options.continue);
    return { version: version > 0 ? version : undefined, from, limit };
  }
  const version = parseVersion(resourceVersion);
  if (version > current) throw tooNew(version, current);
  // What may be any version is given whole, as upstream gives it from its cache.
  if (resourceVersion === "0") return { version: undefined, from: "", limit: 0 };
  const exact = match === "Exact" || (match === "" && limit > 0 && version > 0);
  return { version: exact ? version : undefined, from: "", limit };
}

/** The client knows of a version that is not there yet. */
export function tooNew(version: number, current: number) {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return refusal("Timeout", `Timeout: Too large resource version: ${version}, current: ${current}`, {
    causes,
    retryAfterSeconds: 1,
  });
}

function tooOld(from: string) {
  if (from === "") return expired("The resourceVersion for the provided list is too old.");
  const message =
    "The provided continue parameter is too old to display a consistent list result. " +
    "You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
  return expired(message, encodeToken({ version: -1, from }));
}
