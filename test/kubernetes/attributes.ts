import type { ApiAnswer, ApiRequest } from "@slipway/kube";

/** What a request asks for, in the words of RBAC. */
export interface Attributes {
  verb: string;
  group: string;
  /** With its subresource: `pods/eviction`. */
  resource: string;
  namespace: string | undefined;
  name: string | undefined;
}

const VERBS = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" } as const;
const PATH = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** Reads them off a request; undefined for paths that are no resource (`/readyz`, `/apis`). */
export function attributesOf({
  method,
  path,
  query,
}: Pick<ApiRequest, "method" | "path" | "query">): Attributes | undefined {
  const found = PATH.exec(path);
  if (found === null) return undefined;
  const [, group = "", namespace, plural, name, subresource] = found;
  return {
    verb: method === "GET" ? reading(name, query) : VERBS[method],
    group,
    resource: subresource === undefined ? plural! : `${plural}/${subresource}`,
    namespace,
    name: name ?? /^metadata\.name=([^,]+)$/.exec(query?.fieldSelector ?? "")?.[1],
  };
}

/** Every right that an answered request made use of: an apply that creates needs that right too. */
export function rightsUsed(request: ApiRequest, { status }: Pick<ApiAnswer, "status">): Attributes[] {
  const used = attributesOf(request);
  if (used === undefined) return [];
  return used.verb === "patch" && status === 201 ? [used, { ...used, verb: "create" }] : [used];
}

function reading(name: string | undefined, query: ApiRequest["query"]): string {
  if (query?.watch === "true") return "watch";
  return name === undefined ? "list" : "get";
}
