import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { saveMemoryAtRest, systemClock } from "@slipway/base";

/** What `bin/slipway` runs Node with: it decides the memory. */
export const NODE_FLAGS = ["--max-semi-space-size=8", "--heap-growing-percent=30"];
export const NODE_ENV = {
  ...process.env,
  MALLOC_ARENA_MAX: "1",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/slipway", import.meta.url)),
};

/** Begins this benchmark anew in a process like the command's, unless this is one. Returns what the caller closes at the end. */
export function asCommand(): { close(): void } {
  if (NODE_FLAGS.every((flag) => process.execArgv.includes(flag))) return saveMemoryAtRest(systemClock);
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: NODE_ENV,
  });
  process.exit(status ?? 1);
}
