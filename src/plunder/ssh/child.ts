/** A program as a child process: its output is bounded, and so is its time. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Clock, Fault } from "@slipway/base";

export interface ChildRun {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** What it reads; nothing more follows. */
  input?: AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Takes its output in place of the answer. */
  output?: Writable;
  timeoutMs: number;
  signal?: AbortSignal;
  /** Of output and errors, each; what is more is not kept. */
  mostBytes: number;
}

export interface Ended {
  /** As a shell has it: 128 and the signal's number for one that a signal ended. */
  code: number;
  output: string;
  errors: string;
  /** There was more output than was kept. */
  isCut: boolean;
}

/** After it was asked to end. */
const KILL_MS = 5_000;

/**
 * Runs it until it ends. Rejects with a `Fault`: `Timeout`, `MissingInput` where there is no such program; with the signal's reason when it is
 * aborted, with the input's or output's error when that fails. The process is gone in any case, with those that it started in its group.
 */
export async function runChild(clock: Pick<Clock, "after">, on: string, run: ChildRun): Promise<Ended> {
  const { command, args, env, signal, timeoutMs } = run;
  signal?.throwIfAborted();
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: "pipe", detached: true });
  const started = once(child, "spawn").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ENOENT") throw cause;
    throw new Fault("MissingInput", on, `there is no program ${command}`, { remedy: "install it", cause });
  });
  const exit = new Promise<number>((resolve) => {
    child.once("close", (code, ended) => resolve(code ?? 128 + (ended === "SIGKILL" ? 9 : 15)));
    child.once("error", () => resolve(127));
  });
  let ended: unknown;
  const end = (reason: unknown): void => {
    ended ??= reason;
    signalGroup(child.pid, "SIGTERM");
    // Another process may hold the other ends: they are not waited for.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    kill = clock.after(KILL_MS, () => signalGroup(child.pid, "SIGKILL"));
  };
  let kill: { cancel(): void } | undefined;
  const late = new Fault("Timeout", on, `it has not ended in ${timeoutMs / 1000} s, and was ended`);
  const timer = clock.after(timeoutMs, () => end(late));
  const onAbort = (): void => end(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await started;
    const fed = feed(child.stdin, run.input ?? []).catch(end);
    const kept = run.output === undefined ? keep(child.stdout, run.mostBytes) : undefined;
    const taken = run.output === undefined ? undefined : pipeline(child.stdout, run.output).catch(end);
    const errors = keep(child.stderr, run.mostBytes);
    const code = await exit;
    // A program that has ended reads no more.
    child.stdin.destroy();
    await fed;
    await taken;
    if (ended !== undefined) throw ended;
    return { code, output: kept?.text() ?? "", errors: errors.text(), isCut: kept?.isCut() ?? false };
  } finally {
    timer.cancel();
    kill?.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}

function signalGroup(pid: number | undefined, name: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has just ended.
  }
}

/** A program need not read to the end: that it closes its input is no failure. Rejects when what is to be read fails. */
async function feed(stdin: Writable, input: NonNullable<ChildRun["input"]>): Promise<void> {
  let isGone = false;
  stdin.once("error", () => {
    isGone = true;
  });
  stdin.once("close", () => {
    isGone = true;
  });
  for await (const chunk of input) {
    if (isGone) return;
    if (stdin.write(chunk)) continue;
    await Promise.race([once(stdin, "drain"), once(stdin, "close")]).catch(() => {});
  }
  if (!isGone) stdin.end();
}

function keep(stream: Readable, most: number): { text(): string; isCut(): boolean } {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    const room = most - size;
    size += chunk.length;
    if (room > 0) chunks.push(chunk.subarray(0, room));
  });
  stream.on("error", () => {});
  return { text: () => Buffer.concat(chunks).toString("utf8"), isCut: () => size > most };
}
