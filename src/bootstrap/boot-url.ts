import { createHash, timingSafeEqual } from "node:crypto";
import type { Random } from "@slipway/base";

/**
 * Capability URLs: who knows the URL may read what it serves, so it is random, per boot and short-lived.
 * `/boot/<claim>/<capability>/<what>`.
 */

/** What one boot may fetch or report. */
export const BOOT_PATHS = [
  "ipxe",
  "config",
  "events/started",
  "events/succeeded",
  "events/failed",
  // As cloud-init asks below one address: `user-data` is what `config` is, `meta-data` how the machine is called, and there are no `vendor-data`.
  "user-data",
  "meta-data",
  "vendor-data",
] as const;
export type BootPath = (typeof BOOT_PATHS)[number];

export interface BootAddress {
  /** UID of the object that the machine was claimed for. */
  claim: string;
  capability: string;
  what: BootPath;
}

const BYTES = 32;

/** A new capability: 256 random bits, safe in a URL. Give it `cryptoRandom` for real machines. */
export function mintCapability(random: Random): string {
  return Buffer.from(random.bytes(BYTES)).toString("base64url");
}

/** Names a boot in logs and statuses without giving its capability away: it can't be computed back. */
export function bootIdOf(capability: string): string {
  return createHash("sha256").update(`boot:${capability}`).digest("hex").slice(0, 12);
}

/** Compares in a time that does not depend on where the two differ. */
export function sameCapability(given: string, held: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(held));
}

/** The URLs of one boot below `base` (`https://slipway.example:8443`). */
export function bootUrls(base: string, claim: string, capability: string): Readonly<Record<BootPath, string>> {
  const root = `${base.replace(/\/+$/, "")}/boot/${encodeURIComponent(claim)}/${capability}`;
  return Object.fromEntries(BOOT_PATHS.map((what) => [what, `${root}/${what}`])) as Record<BootPath, string>;
}

/** Reads the path of such a URL; a whole URL is read too, and its query ignored. Undefined: it has not even the shape of one. */
export function parseBootUrl(url: string): BootAddress | undefined {
  const path = URL.parse(url, "http://path.invalid")?.pathname ?? "";
  const match = /^\/boot\/([A-Za-z0-9._-]{1,64})\/([A-Za-z0-9_-]{43})\/([a-z/-]{1,32})$/.exec(path);
  const what = BOOT_PATHS.find((known) => known === match?.[3]);
  return match === null || what === undefined ? undefined : { claim: match[1]!, capability: match[2]!, what };
}
