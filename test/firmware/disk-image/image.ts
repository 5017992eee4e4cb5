import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "build.sh");

export interface DiskImage {
  /** zstd of a raw disk. */
  file: string;
  sha256: string;
}

/** The image that machines install, built when there is none by this very script yet. Kept in the user's cache. */
export async function diskImage(env: NodeJS.ProcessEnv): Promise<DiskImage> {
  const version = createHash("sha256")
    .update(await readFile(SCRIPT))
    .digest("hex")
    .slice(0, 16);
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  const file = join(cache, "slipway/test-image", version, "debian.img.zst");
  const there = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!there) await run(SCRIPT, [file], { env, maxBuffer: 16 * 1024 * 1024 });
  return {
    file,
    sha256: createHash("sha256")
      .update(await readFile(file))
      .digest("hex"),
  };
}
