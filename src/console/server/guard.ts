import { Fault } from "@slipway/base";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isOurHost, isOurOrigin, type Reach } from "./origin.ts";

const PAGE_POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "font-src", "connect-src", "manifest-src"].map((of) => `${of} 'self'`),
  "img-src 'self' data:",
  ...["base-uri", "form-action", "frame-ancestors"].map((of) => `${of} 'none'`),
].join("; ");

/** What comes from the API is no page: nothing of it may run, whatever a browser takes it for. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

const HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
  "cache-control": "no-store",
} as const;

/** Where a provider of identities sends browsers back to, from its own site. */
const FROM_OUTSIDE = "/console/oidc/callback";

/**
 * Looks at every request before anything else does. Refused are: names that are not ours (DNS rebinding), targets and headers that a proxy in
 * front could read otherwise than we do, requests that a page of another site sent, and changes from a page that is not ours.
 * Every answer gets the headers that keep it from being framed, sniffed, cached or run.
 */
export function guard(app: FastifyInstance, reach: Reach): void {
  app.addHook("onRequest", async (request, reply) => {
    const isData = request.raw.url?.startsWith("/console/") ?? false;
    reply.headers({ ...HEADERS, "content-security-policy": isData ? DATA_POLICY : PAGE_POLICY });
    check(request, reach);
  });
}

function check({ raw, method }: FastifyRequest, reach: Reach): void {
  const { host, origin } = raw.headers;
  const path = (raw.url ?? "").replace(/\?.*$/s, "");
  if (!path.startsWith("/") || count(raw.rawHeaders, "host") !== 1) throw refused("the request is not in origin form");
  if (!isOurHost(host, reach))
    throw new Fault("Refused", "console", "it is not served under this name", {
      remedy: "open it by its address, or start it with --console-url",
    });
  if (raw.headers.upgrade !== undefined || raw.headers["content-length"]?.includes(","))
    throw refused("the console upgrades no connections");
  if (raw.headers["transfer-encoding"] !== undefined && raw.headers["content-length"] !== undefined)
    throw refused("a body has one length");
  const site = raw.headers["sec-fetch-site"];
  const isOutside = site !== undefined && site !== "same-origin" && site !== "none";
  if (isOutside && path.startsWith("/console/") && path !== FROM_OUTSIDE)
    throw refused("it came from another site's page");
  if (method === "GET" || method === "HEAD") return;
  if (!isOurOrigin(origin, host!, reach)) throw refused("it did not come from the console's page");
}

const count = (headers: readonly string[], name: string): number =>
  headers.filter((header, at) => at % 2 === 0 && header.toLowerCase() === name).length;

const refused = (why: string): Fault => new Fault("Refused", "console", why);
