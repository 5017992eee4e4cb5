/** The command in one process for many: a start costs more CPU than what most commands do. Each is run as if it had been started alone. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { systemClock as clock } from "@slipway/base";

/** How a command ended. */
export interface Ended {
  code: number | string;
  out: string;
  err: string;
}

const DEADLINE_MS = 120_000;

/** Runs commands one after another in a process of its own, which begins with the first. Signals, environment and what goes on need a process each. */
export class CommandProcess {
  #process: ReturnType<typeof begin> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  run(...args: string[]): Promise<Ended> {
    const ended = this.#last.then(() => this.#ask(args));
    this.#last = ended.catch(() => {});
    return ended;
  }

  /** Fails when a command has left something open: a process of its own would not have ended. */
  async close(): Promise<void> {
    if (this.#process === undefined) return;
    const { child, ended } = this.#process;
    const late = clock.after(DEADLINE_MS, () => child.kill());
    child.stdin.end();
    assert.deepEqual(await ended, [0, null], "the process of the commands has not ended by itself");
    late.cancel();
  }

  async #ask(args: readonly string[]): Promise<Ended> {
    this.#process ??= begin();
    const { child, lines } = this.#process;
    const late = clock.after(DEADLINE_MS, () => child.kill());
    child.stdin.write(`${JSON.stringify(args)}\n`);
    const { value } = await lines.next();
    late.cancel();
    assert.ok(value !== undefined, `the process of the commands has ended in ${args.join(" ")}`);
    return JSON.parse(value) as Ended;
  }
}

function begin() {
  const child = spawn(process.execPath, [join(import.meta.dirname, "commands.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
    // As `bin/slipway` says it.
    env: { ...process.env, SLIPWAY_CALLED_AS: "bin/slipway" },
  });
  return {
    child,
    ended: once(child, "close"),
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
  };
}
