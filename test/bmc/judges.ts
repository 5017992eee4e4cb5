/** The programs of others that judge ours, from PyPI, in an environment of their own in the cache. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What pip is asked for. */
const PACKAGES = ["sushy==5.14.0", "sushy-tools==2.2.0", "redfishtool==1.1.8", "redfish_protocol_validator==1.3.2"];

export interface Judges {
  /** Path of a program; `python` is theirs. */
  program(name: string): string;
}

/** The judges; installed when they are not. A string: why they can't be had. */
export function judges(env: NodeJS.ProcessEnv): Judges | string {
  const cache = env.XDG_CACHE_HOME || join(env.HOME ?? "/", ".cache");
  const folder = join(cache, "slipway", "bmc");
  const installed = join(folder, "installed");
  const venv = join(folder, "venv");
  const wanted = PACKAGES.join(" ");
  if (readOr(installed, "") !== wanted) {
    rmSync(venv, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const trouble =
      run("python3", ["-m", "venv", venv]) ??
      run(join(venv, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", ...PACKAGES]);
    if (trouble !== undefined) return trouble;
    writeFileSync(installed, wanted);
  }
  return { program: (name) => join(venv, "bin", name) };
}

/** Undefined: it ended well. */
function run(command: string, args: readonly string[]): string | undefined {
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) return `${command}: ${error.message}`;
  const said = stderr.trim().split("\n").at(-1);
  return status === 0 ? undefined : `${command} ${args[0]}: ${said || `exit ${status}`}`;
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}
