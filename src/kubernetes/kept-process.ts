import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { privateFile } from "@slipway/base";

/**
 * Runs beside each program and outlives us if we are killed: its standard input closes then, and it ends the program.
 * A line names the signal. `$1`: a folder to remove when the program has ended, or empty. `$2`: the signal when we are gone.
 */
const KEEPER = `
dir=$1; orphaned=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
( exec >/dev/null 2>&1; read -r how <&3 || how=$orphaned; kill -"$how" $child; n=0
  while kill -0 $child && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done; kill -KILL $child ) &
guard=$!
wait $child; code=$?
kill $guard 2>/dev/null
[ -n "$dir" ] && rm -rf "$dir"
exit $code
`;

export interface KeptProcessOptions {
  command: string;
  args: readonly string[];
  /** Added to our own environment: the place of secrets, which everybody reads on a command line. */
  env?: Readonly<Record<string, string>>;
  /** Both its outputs, begun anew; absent: they are ours. */
  logFile?: string;
  /** Removed when the program has ended, however it and we ended. */
  removeAfter?: string;
  /** How it is ended when we are gone. TERM unless said. */
  orphaned?: "TERM" | "KILL";
}

/** A program that never outlives us, not even when we are killed. */
export class KeptProcess {
  /** Resolves with the exit code once the program is gone. */
  readonly gone: Promise<number>;
  readonly logFile: string | undefined;
  readonly #order: (signal: string) => void;
  readonly #keeper: number | undefined;
  #running = true;

  constructor({ command, args, env, logFile, removeAfter, orphaned }: KeptProcessOptions) {
    this.logFile = logFile;
    if (logFile !== undefined) privateFile(logFile);
    const log = logFile === undefined ? undefined : openSync(logFile, "w", 0o600);
    // In a session of its own, Ctrl-C reaches us alone: we stop first and the program after us.
    const keeper = spawn("/bin/sh", ["-c", KEEPER, "keeper", removeAfter ?? "", orphaned ?? "TERM", command, ...args], {
      env: { ...process.env, ...env },
      stdio: ["pipe", log ?? "inherit", log ?? "inherit"],
      detached: true,
    });
    if (log !== undefined) closeSync(log);
    this.#keeper = keeper.pid;
    // Writing to a keeper that has just gone is no fault: there is nothing left to end.
    keeper.stdin!.on("error", () => {});
    this.#order = (signal) => keeper.stdin!.end(`${signal}\n`);
    this.gone = once(keeper, "exit").then(([code]) => {
      this.#running = false;
      return typeof code === "number" ? code : 1;
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** The program's process id, once its keeper has started it (Linux: from proc(5)). */
  pid(): number {
    const children = readFileSync(`/proc/${this.#keeper}/task/${this.#keeper}/children`, "utf8");
    return Number(children.split(" ")[0]);
  }

  /** Ends the program and waits until it is gone; 10 s after TERM it is killed. */
  async stop(signal: "TERM" | "KILL" = "TERM"): Promise<void> {
    if (this.#running) this.#order(signal);
    await this.gone;
  }

  /** The last lines it printed, for a person. */
  async lastWords(lines = 12): Promise<string> {
    const text = this.logFile === undefined ? "" : await readFile(this.logFile, "utf8").catch(() => "");
    return text.trimEnd().split("\n").slice(-lines).join("\n");
  }
}
