import { Fault } from "@slipway/base";

/** A request's target below the Kubernetes API, in the one spelling that is sent on. */
export interface ApiTarget {
  path: string;
  query: Record<string, string>;
}

const ROOTS = new Set(["api", "apis", "version", "openapi"]);
/** What opens a connection to something else, whose answers would bear the console's name. */
const CONNECTIONS = new Set(["proxy", "exec", "attach", "portforward"]);
const LONGEST = 8 * 1024;

/**
 * Reads what stands behind `/console/k8s` in a request's target. It is taken apart by segments and written anew, so the API sees no
 * spelling that was not looked at here. Throws `BadRequest` for dots, encoded slashes and the like, `Forbidden` for what the console never asks.
 */
export function apiTarget(raw: string): ApiTarget {
  if (raw.length > LONGEST || !/^\/[\x21-\x7e]*$/.test(raw) || /[#\\]/.test(raw)) throw strange();
  const mark = raw.indexOf("?");
  const segments = (mark < 0 ? raw : raw.slice(0, mark)).slice(1).split("/").map(segment);
  if (!ROOTS.has(segments[0]!)) throw strange();
  if (isForbidden(segments))
    throw new Fault("Forbidden", "console", "the console shows no Secrets and tokens, and opens no connections", {
      remedy: "use kubectl",
    });
  const query = queryOf(mark < 0 ? "" : raw.slice(mark + 1));
  if ("watch" in query || "follow" in query || isWatchPath(segments))
    throw new Fault("BadRequest", "console", "nothing is followed here", { remedy: "use /console/events" });
  return { path: `/${segments.map(encodeURIComponent).join("/")}`, query };
}

function segment(text: string): string {
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    throw strange();
  }
  // Names of Kubernetes hold letters, digits and a few marks; roles may have colons.
  if (!/^[A-Za-z0-9._:@~-]+$/.test(plain) || /^\.+$/.test(plain)) throw strange();
  return plain;
}

/** Where the resource stands: `/api/v1[/namespaces/NS]/PLURAL/NAME/SUB`, `/apis/GROUP/VERSION/…`. */
function resourceIn(segments: readonly string[]): readonly string[] {
  const rest = segments.slice(segments[0] === "api" ? 2 : 3);
  return rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
}

function isForbidden(segments: readonly string[]): boolean {
  const [plural, , sub] = resourceIn(segments);
  if (plural === "proxy") return true;
  if (segments[0] === "api" && (plural === "secrets" || (plural === "serviceaccounts" && sub === "token"))) return true;
  return sub !== undefined && CONNECTIONS.has(sub);
}

/** The old way to watch: `/api/v1/watch/…`. */
function isWatchPath(segments: readonly string[]): boolean {
  return segments[segments[0] === "api" ? 2 : 3] === "watch";
}

function queryOf(text: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in query) throw strange();
    query[name] = value;
  }
  return query;
}

const strange = (): Fault => new Fault("BadRequest", "console", "this is no path of the Kubernetes API");
