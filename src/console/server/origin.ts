import { isIP } from "node:net";

/** Where browsers reach the console, for the checks of Host and Origin. */
export interface Reach {
  /** Whether the console itself speaks TLS. */
  isSecure: boolean;
  /** Base URLs beside loopback and bare addresses, such as that of a proxy in front. */
  urls: readonly string[];
}

/**
 * Whether a request's Host header is a name of ours: loopback's name, a bare address, or a name that was given. Another site can have its name
 * point to this address (DNS rebinding), but the browser still sends that site's name.
 */
export function isOurHost(host: string | undefined, { urls }: Reach): boolean {
  const [, bracketed, name] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+))(?::\d{1,5})?$/.exec(host ?? "") ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6;
  if (name === undefined) return false;
  if (name.toLowerCase() === "localhost" || isIP(name) === 4) return true;
  return urlOf(host!, urls) !== undefined;
}

/** Whether an Origin header is that of a page of ours under this Host, which was looked at before. */
export function isOurOrigin(origin: string | undefined, host: string, { isSecure, urls }: Reach): boolean {
  if (origin === undefined) return false;
  const named = urlOf(host, urls);
  return origin.toLowerCase() === (named?.origin ?? `${isSecure ? "https" : "http"}://${host.toLowerCase()}`);
}

/** Whether cookies may be sent over TLS alone: the console, or the proxy of that name in front of it, speaks it. */
export function isSecureHost(host: string, { isSecure, urls }: Reach): boolean {
  return isSecure || urlOf(host, urls)?.protocol === "https:";
}

/** The URL that was given for a Host. */
function urlOf(host: string, urls: readonly string[]): URL | undefined {
  return urls.map((url) => new URL(url)).find((url) => url.host === host.toLowerCase());
}
