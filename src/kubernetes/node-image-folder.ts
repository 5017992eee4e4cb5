import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Where `make node-image` puts a node image: `SLIPWAY_NODE_IMAGE`, or a folder in the user's cache; `vmlinuz` and `initrd` are in it. */
export function nodeImageFolder(env: Environment, minor: string, architecture: string): string {
  const { SLIPWAY_NODE_IMAGE: named, XDG_CACHE_HOME: cache, HOME: home } = env;
  return join(
    named || join(cache || join(home || homedir(), ".cache"), "slipway/node-image"),
    `${minor}-${architecture}`,
  );
}
