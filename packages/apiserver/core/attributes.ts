import type { ResourcePath } from "../model/path.ts";
import type { ServerRequest, User } from "../model/request.ts";
import { selectedName } from "../select/field-selector.ts";

/** What someone wants to do, in the terms of RBAC. */
export interface Attributes {
  user: User;
  verb: string;
  group: string;
  version: string;
  /** Empty for a non-resource path. */
  plural: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The path, for requests that name no resource. */
  path: string;
}

/** What a request wants, as authorizers see it. `path` undefined: it names no resource, and the verb is the method. */
export function attributesOf(
  request: ServerRequest,
  user: User,
  path: ResourcePath | undefined,
  verb: string,
): Attributes {
  const nothing = { group: "", version: "", plural: "", subresource: "", namespace: "", name: "" };
  if (path === undefined) return { user, verb: request.method.toLowerCase(), ...nothing, path: request.path };
  const { group, version, plural, subresource, namespace, name } = path;
  return {
    user,
    verb,
    group,
    version,
    plural,
    subresource,
    // A Namespace counts as being in itself, so that a Role there may speak of it.
    namespace: plural === "namespaces" ? name : namespace,
    name: name === "" && ["list", "watch"].includes(verb) ? nameOfList(request) : name,
    path: request.path,
  };
}

/** A list that can hold but one name is authorized as if it were a read of that name. */
function nameOfList({ query }: ServerRequest): string {
  const name = selectedName(query.get("fieldSelector") ?? "") ?? "";
  return name === "." || name === ".." || /[/%]/.test(name) ? "" : name;
}
