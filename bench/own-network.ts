import { spawnSync } from "node:child_process";
import type { Firmware } from "../src/lab/machine.ts";
import { inOwnNetwork } from "../src/lab/namespace.ts";
import { missingPackages } from "../src/lab/programs.ts";

/**
 * Runs `measure` in a network namespace of its own, where emulated machines boot: the benchmark starts itself again in there. Sets the
 * exit code of the outer process. What is not installed is named, and nothing is measured.
 */
export async function measureInOwnNetwork(
  firmwares: readonly Firmware[],
  measure: () => Promise<void>,
  programs: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (process.env.BENCH_INSIDE === "1") return await measure();
  const missing = await missingPackages(firmwares, process.env.PATH ?? "");
  for (const [program, debian] of Object.entries(programs))
    if (spawnSync(program, ["--version"]).error !== undefined) missing.push(debian);
  if (missing.length > 0) return console.log(`skipped: not installed: ${missing.join(" ")}`);
  const { command, args } = inOwnNetwork(process.execPath, process.argv.slice(1), { root: process.getuid?.() === 0 });
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, BENCH_INSIDE: "1" } });
  process.exitCode = status ?? 1;
}
