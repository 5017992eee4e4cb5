import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants, globSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const SCRIPTS = import.meta.dirname;

/** As Debian calls them. */
type Architecture = "amd64" | "arm64";

export interface DiskImage {
  /** zstd of a raw disk. */
  file: string;
  sha256: string;
}

/** The images that machines install, built when there are none by these very scripts yet. Kept in the user's cache. */
export async function diskImages(env: NodeJS.ProcessEnv): Promise<Record<Architecture, DiskImage>> {
  const folder = join(
    env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"),
    "slipway/test-image",
    await version(),
  );
  const file = (architecture: Architecture): string => join(folder, `${architecture}.img.zst`);
  const there = await Promise.all((["amd64", "arm64"] as const).map((each) => isReadable(file(each))));
  if (there.includes(false)) await run(join(SCRIPTS, "build.sh"), [folder], { env, maxBuffer: 16 * 1024 * 1024 });
  const image = async (architecture: Architecture): Promise<DiskImage> => ({
    file: file(architecture),
    sha256: createHash("sha256")
      .update(await readFile(file(architecture)))
      .digest("hex"),
  });
  return { amd64: await image("amd64"), arm64: await image("arm64") };
}

async function version(): Promise<string> {
  const hash = createHash("sha256");
  for (const script of globSync("*.sh", { cwd: SCRIPTS }).sort()) hash.update(await readFile(join(SCRIPTS, script)));
  return hash.digest("hex").slice(0, 16);
}

function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
