import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Namespace } from "./namespace.ts";
import type { Line, Serving } from "./serve.ts";

const PROGRAM = join(import.meta.dirname, "serve.ts");

const DEADLINE_MS = 30_000;

/** `serve.ts` as a process in a namespace. */
export class Served {
  readonly lines: Line[] = [];
  readonly #child: ChildProcess;
  readonly #seen = new EventTarget();
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>;
  #said = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.ended = once(child, "close");
    child.stderr!.on("data", (bytes: Buffer) => (this.#said += bytes));
    createInterface({ input: child.stdout! }).on("line", (line) => {
      this.lines.push(JSON.parse(line));
      this.#seen.dispatchEvent(new Event("line"));
    });
  }

  /** Resolves once it listens. `command` starts Node with what follows; `env` is added to the environment. */
  static async start(
    namespace: Namespace,
    serving: Serving,
    { command = [process.execPath], env = {} }: { command?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
  ): Promise<Served> {
    const [name, ...args] = [...command, PROGRAM, JSON.stringify(serving)];
    const served = new Served(namespace.start(name!, args, { env }));
    await served.next("ready");
    return served;
  }

  /** The first line of this kind that has these values; waits for it. Rejects with what was said instead. */
  async next(is: string, values: Record<string, unknown> = {}): Promise<Line> {
    const fits = (line: Line): boolean =>
      line.is === is &&
      Object.entries(values).every(([key, value]) => (line as Record<string, unknown>)[key] === value);
    await this.until(`${is} ${JSON.stringify(values)}`, () => this.lines.some(fits));
    return this.lines.find(fits)!;
  }

  /** Resolves when what was said fulfils the condition. Rejects with what was said when it does not in time. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const gone = this.ended.then(() => "it ended");
    while (!holds()) {
      const more = once(this.#seen, "line", { signal }).then(
        () => undefined,
        () => "in time",
      );
      const why = await Promise.race([more, gone]);
      if (why !== undefined && !holds())
        throw new Error(`no ${what} (${why}): ${JSON.stringify(this.lines.slice(-20))} ${this.#said}`);
    }
  }

  /** Ends it in order, and shows what it counted. */
  async stop(): Promise<Record<string, number>> {
    this.#child.stdin!.end();
    await this.ended;
    const last = this.lines.at(-1);
    if (last?.is !== "ended") throw new Error(`it did not end in order: ${this.#said}`);
    return (last as { counts: Record<string, number> }).counts;
  }
}

/** A folder that is gone when the test is over. */
export function scratch(test: { after(done: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), "slipway-netboot-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
