import type { ResourcePath } from "../model/path.ts";
import type { ServerRequest } from "../model/request.ts";
import type { ServedResource } from "../model/served.ts";
import { badRequest, methodNotAllowed, noSuchMethod, notFound } from "../model/status.ts";
import { subresourcesOf } from "../schema/discovery.ts";
import { flag } from "../verbs/list-options.ts";

/** What a request wants of a resource, as authorization and discovery name it; empty for methods that stand for nothing. */
export function verbOf({ method, query }: ServerRequest, { name, watch }: ResourcePath): string {
  switch (method) {
    case "GET":
    case "HEAD":
      if (watch) return "watch";
      if (name !== "") return "get";
      return flag(query, "watch") ? "watch" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === "" ? "deletecollection" : "delete";
    default:
      return "";
  }
}

const COLLECTION = ["list", "watch", "create", "deletecollection"];
const EVERYWHERE = ["list", "watch"];
const ITEM = ["get", "watch", "update", "patch", "delete"];
/**
 * Whether the resource has what the path names. Throws where the path is there but the method is not: upstream's router does so in
 * general words for built-in kinds, while for defined ones the handler names the resource.
 */
export function hasRoute(resource: ServedResource, path: ResourcePath, verb: string, method: string): boolean {
  const { namespaced } = resource;
  if (!namespaced && path.namespace !== "") return false;
  return resource.builtIn ? builtInRoute(resource, path, verb, method) : definedRoute(resource, path, verb);
}

function builtInRoute(resource: ServedResource, path: ResourcePath, verb: string, method: string): boolean {
  const { namespaced } = resource;
  const nowhere = namespaced && path.namespace === "";
  if (path.beyond || (nowhere && path.name !== "")) return false;
  const offered = verbsAt(resource, path, nowhere);
  if (offered.length === 0) return false;
  if (!offered.includes(verb) || method === "HEAD" || (path.watch && method !== "GET")) throw noSuchMethod();
  return true;
}

function verbsAt(resource: ServedResource, { name, subresource }: ResourcePath, nowhere: boolean): readonly string[] {
  if (subresource !== "") return verbsOf(resource, subresource) ?? [];
  const level = name !== "" ? ITEM : nowhere ? EVERYWHERE : COLLECTION;
  return level.filter((verb) => resource.verbs.includes(verb));
}

function definedRoute(resource: ServedResource, { namespace, name, subresource }: ResourcePath, verb: string): boolean {
  if (resource.namespaced && namespace === "" && !EVERYWHERE.includes(verb)) return false;
  const offered = subresource === "" ? resource.verbs : verbsOf(resource, subresource);
  if (offered === undefined) throw notFound(resource, name);
  if (!offered.includes(verb)) throw methodNotAllowed(resource, verb);
  if (name === "" && (verb === "update" || verb === "patch")) throw badRequest("name must be provided");
  return true;
}

function verbsOf(resource: ServedResource, subresource: string): readonly string[] | undefined {
  return subresourcesOf(resource).find(({ name }) => name === subresource)?.verbs;
}
