import { spawn } from "node:child_process";
import { type Clock, Fault, type Timer } from "@slipway/base";

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

/** A program that is ended by what is written to it, so that it leaves nothing behind. */
export interface StreamedRun extends Run {
  farewell: string;
  signal: AbortSignal;
}

/** Runs a program until it ends, or is asked to by the signal, and hands on what it writes; resolves when it has ended. Rejects as `RunProgram`. */
export type StreamProgram = (run: StreamedRun, push: (bytes: Uint8Array) => void) => Promise<Omit<Ran, "stdout">>;

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
    child.once("error", (error) => reject(signal?.aborted ? signal.reason : notStarted(program, error)));
    child.once("close", (code) => resolve({ code: code ?? 1, ...kept }));
  });

/** A program that does not end after its farewell is killed after so long. */
const FAREWELL_MS = 5_000;

/** `StreamProgram` by processes. They end with this process, too: their input ends then. */
export function streamProgram(clock: Pick<Clock, "after">): StreamProgram {
  return ({ program, args, env, farewell, signal }, push) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
      let stderr = "";
      let killing: Timer | undefined;
      const end = (): void => {
        child.stdin.end(farewell);
        killing = clock.after(FAREWELL_MS, () => child.kill("SIGKILL"));
      };
      signal.addEventListener("abort", end, { once: true });
      child.stdin.on("error", () => {});
      child.stdout.on("data", push);
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr = (stderr + text).slice(-LONGEST);
      });
      child.once("error", (error) => reject(notStarted(program, error)));
      child.once("close", (code) => {
        signal.removeEventListener("abort", end);
        killing?.cancel();
        resolve({ code: code ?? 1, stderr });
      });
    });
}

function notStarted(program: string, error: NodeJS.ErrnoException): Error {
  if (error.code !== "ENOENT") return error;
  return new Fault("Unsupported", program, "it is not installed", { remedy: `install the package ${program}` });
}
