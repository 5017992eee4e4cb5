import { refusal } from "./refusal.ts";

/** A URL as GRUB names files on the network: `http://192.0.2.1:8080/a` is `(http,192.0.2.1:8080)/a`. GRUB speaks no HTTPS; `Fault` (`Invalid`) then. */
export function grubPath(url: string): string {
  const parts = /^http:\/\/((?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+)(?::\d+)?)(\/.*)$/.exec(url);
  if (parts === null) throw refusal("path", url, "is no http URL with a path");
  return `(http,${parts[1]})${parts[2]}`;
}
