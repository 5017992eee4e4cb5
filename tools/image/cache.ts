import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where what was fetched is kept, outside the tree; made if need be. */
export function cacheFolder(): string {
  const { HOME, XDG_CACHE_HOME } = process.env;
  const folder = join(XDG_CACHE_HOME || join(HOME ?? tmpdir(), ".cache"), "slipway/image");
  mkdirSync(folder, { recursive: true });
  return folder;
}
