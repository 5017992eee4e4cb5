import { spawn } from "node:child_process";
import { Fault } from "@slipway/base";

export interface Run {
  program: string;
  args: readonly string[];
  /** Besides this process's own. */
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, without a shell and without input. Rejects with a `Fault`: `Unsupported` where it is not installed. */
export type RunProgram = (run: Run) => Promise<Ran>;

/** What is kept of each output. */
const LONGEST = 256 * 1024;

/** `RunProgram` by processes, which end with the signal. */
export const runProgram: RunProgram = ({ program, args, env, signal }) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      ...(signal !== undefined && { signal, killSignal: "SIGKILL" as const }),
    });
    const kept = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]!.setEncoding("utf8").on("data", (text: string) => {
        kept[name] = (kept[name] + text).slice(0, LONGEST);
      });
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT")
        reject(new Fault("Unsupported", program, "it is not installed", { remedy: `install the package ${program}` }));
      else reject(signal?.aborted ? signal.reason : error);
    });
    child.once("close", (code) => resolve({ code: code ?? 1, ...kept }));
  });
