import { homedir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@slipway/base";

/** Where `make agent` puts what machines boot, and the boot services look for it: `SLIPWAY_NETBOOT_ASSETS`, or a folder of this release in the user's cache. */
export function assetsFolder(env: Readonly<Record<string, string | undefined>>): string {
  const { SLIPWAY_NETBOOT_ASSETS: named, XDG_CACHE_HOME: cache, HOME: home } = env;
  return named || join(cache || join(home || homedir(), ".cache"), "slipway/netboot", VERSION);
}
