import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";

const HELD = "SLIPWAY_AGENT_LOCK_HELD";

/**
 * Runs `work` while no other process on this machine does the same with that folder. The process starts itself again below `flock`, whose
 * lock goes with it however it ends; who comes second waits, and finds the work done.
 */
export function oneAtATime(folder: string, work: () => void): void {
  if (process.env[HELD] === folder) {
    work();
    return;
  }
  mkdirSync(folder, { recursive: true });
  const { status, error } = spawnSync("flock", [join(folder, "lock"), process.execPath, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...process.env, [HELD]: folder },
  });
  if (error !== undefined)
    throw new Fault("NotFound", "flock", error.message, { remedy: "apt-get install util-linux", cause: error });
  process.exitCode = status ?? 1;
}
