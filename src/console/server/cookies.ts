import type { FastifyReply, FastifyRequest } from "fastify";
import { isSecureHost, type Reach } from "./origin.ts";

export const SESSION_COOKIE = "slipway-console";

/** A cookie of the request; the first of that name. */
export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && /^[A-Za-z0-9_-]{1,128}$/.test(value ?? "")) return value;
  }
  return undefined;
}

export interface CookieOptions {
  path: string;
  /** `Lax` is for the way back from another site, by a link. */
  site: "Strict" | "Lax";
  /** Seconds; 0 removes it. Unset: until the browser is closed. */
  maxAge?: number;
}

/** Sets a cookie that scripts can't read. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  reach: Reach,
  { name, value, path, site, maxAge }: CookieOptions & { name: string; value: string },
): void {
  const secure = isSecureHost(request.headers.host ?? "", reach) ? "; Secure" : "";
  const age = maxAge === undefined ? "" : `; Max-Age=${maxAge}`;
  // Fastify keeps those that were set before.
  reply.header("set-cookie", `${name}=${value}; Path=${path}; HttpOnly; SameSite=${site}${age}${secure}`);
}

/** The cookie of a session. */
export function setSession(request: FastifyRequest, reply: FastifyReply, reach: Reach, id: string): void {
  setCookie(request, reply, reach, { name: SESSION_COOKIE, value: id, path: "/", site: "Strict" });
}

/** Removes it. */
export function clearSession(request: FastifyRequest, reply: FastifyReply, reach: Reach): void {
  setCookie(request, reply, reach, { name: SESSION_COOKIE, value: "", path: "/", site: "Strict", maxAge: 0 });
}
