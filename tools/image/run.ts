import { spawnSync } from "node:child_process";
import { Fault } from "@slipway/base";

/** Runs a program to its end and returns what it printed. Throws a `Fault` that quotes its last words, or says that it is not here. */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; input?: Buffer; env?: NodeJS.ProcessEnv } = {},
): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, args, { ...options, maxBuffer: 1 << 30 });
  if (error !== undefined)
    throw new Fault("NotFound", program, error.message, { remedy: `install ${program}`, cause: error });
  if (status !== 0)
    throw new Fault(
      "Internal",
      program,
      `ended with ${status}: ${stderr.toString().trim().split("\n").slice(-5).join("\n")}`,
    );
  return stdout;
}
