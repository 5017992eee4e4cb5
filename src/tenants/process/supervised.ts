import type { Clock, Timer } from "@slipway/base";
import { KeptProcess } from "../../kubernetes/kept-process.ts";

/** A program with all that makes it another one when it changes. */
export interface Program {
  command: string;
  args: readonly string[];
  /** Its secrets: a command line is everybody's to read. */
  env?: Readonly<Record<string, string>>;
  logFile: string;
  /** Of the files it reads: another mark needs another start. */
  mark: string;
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** A program that ran for so long has recovered. */
const STEADY_MS = 60_000;

/** Keeps one program running: it is started again when it ends by itself, after a pause that doubles, and when what is wanted of it changes. */
export class Supervised {
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  readonly #changed: () => void;
  #wanted: Program | undefined;
  #process: KeptProcess | undefined;
  #startedAt = 0;
  #pauseMs = FIRST_MS;
  #again: Timer | undefined;
  #failure: string | undefined;
  /** One change after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, "after" | "monotonic">, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Whether it is to run. */
  get wanted(): boolean {
    return this.#wanted !== undefined;
  }

  get running(): boolean {
    return this.#process?.running === true;
  }

  /** Why it does not run, with its last words; undefined while it runs. */
  get failure(): string | undefined {
    return this.running ? undefined : this.#failure;
  }

  /** Linux: its process id; undefined while it does not run. */
  pid(): number | undefined {
    return this.running ? this.#process!.pid() : undefined;
  }

  /** Runs this program, in the place of any other. Undefined: none. Resolves when the former one is gone and the new one is started. */
  async want(program: Program | undefined): Promise<void> {
    if (JSON.stringify(program) === JSON.stringify(this.#wanted)) return await this.#turn;
    this.#wanted = program;
    this.#pauseMs = FIRST_MS;
    this.#failure = undefined;
    this.#turn = this.#turn.then(() => this.#replace(program));
    await this.#turn;
  }

  async #replace(program: Program | undefined): Promise<void> {
    this.#again?.cancel();
    this.#again = undefined;
    const before = this.#process;
    this.#process = undefined;
    await before?.stop();
    if (program !== undefined && program === this.#wanted) this.#start(program);
  }

  #start(program: Program): void {
    const { mark: _, ...options } = program;
    const started = new KeptProcess(options);
    this.#process = started;
    this.#startedAt = this.#clock.monotonic();
    void started.gone.then(async (code) => {
      if (this.#process !== started) return;
      this.#failure = `it ended with exit code ${code}: ${await started.lastWords(3)}`;
      if (this.#process !== started) return;
      if (this.#clock.monotonic() - this.#startedAt >= STEADY_MS) this.#pauseMs = FIRST_MS;
      this.#again = this.#clock.after(this.#pauseMs, () => this.#start(program));
      this.#pauseMs = Math.min(MOST_MS, this.#pauseMs * 2);
      this.#changed();
    });
  }
}
