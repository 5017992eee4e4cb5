import { badRequest } from "./status.ts";

/** What a resource path names (Kubernetes API conventions, "Resource URLs"). */
export interface ResourcePath {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  /** Empty for the collection. */
  name: string;
  subresource: string;
  /** Something stands behind the subresource. */
  beyond: boolean;
  /** The old `/watch/` prefix was there. */
  watch: boolean;
}

/**
 * Reads `/api/v1/…` and `/apis/<group>/<version>/…`. Undefined when the path names no resource (discovery, health).
 * `/api/v1/namespaces/x` and its subresources name the Namespace itself.
 */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = partsOf(path);
  if (parts.includes("")) return undefined;
  const group = parts[0] === "api" ? "" : parts[0] === "apis" ? parts[1] : undefined;
  const rest = parts[0] === "api" ? parts.slice(1) : parts.slice(2);
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  const watch = rest[0] === "watch" && rest.length > 1;
  if (watch) rest.shift();
  let namespace = "";
  const namesNamespace = rest.length < 3 || rest[2] === "status" || rest[2] === "finalize";
  if (rest[0] === "namespaces" && !(group === "" && namesNamespace && rest.length <= 3)) {
    namespace = rest[1] ?? "";
    rest.splice(0, 2);
  }
  const [plural, name = "", subresource = "", ...more] = rest;
  if (plural === undefined) return undefined;
  return { group, version, namespace, plural, name, subresource, beyond: more.length > 0, watch };
}

/** Between the slashes, without one at either end. */
function partsOf(path: string): string[] {
  const text = path.includes("%") ? decoded(path) : path;
  const from = text.startsWith("/") ? 1 : 0;
  return text.slice(from, text.length > from && text.endsWith("/") ? -1 : undefined).split("/");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`the path holds a broken percent escape: ${JSON.stringify(path)}`);
  }
}
