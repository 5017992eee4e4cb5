import { createWriteStream, type WriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { Fault } from "@slipway/base";

/** How much of the latest output is searched and shown. */
const RECENT = 64 * 1024;

/** What a machine says on its serial line: kept in a file, shown to all listeners. Lives through resets and power cycles. */
export class SerialConsole {
  readonly file: string;
  readonly #out: WriteStream;
  readonly #listeners = new Set<(text: string) => void>();
  #recent = "";

  /** Begins the file anew. */
  constructor(file: string) {
    this.file = file;
    this.#out = createWriteStream(file, { mode: 0o600 });
    // A disk that is full costs the file, not the machine.
    this.#out.on("error", () => {});
  }

  /** Takes a running machine's output until it ends. */
  read(output: Readable): void {
    output.setEncoding("latin1");
    output.on("data", (text: string) => {
      this.#out.write(text, "latin1");
      this.#recent = (this.#recent + text).slice(-RECENT);
      for (const listener of this.#listeners) listener(text);
    });
  }

  /** Calls the listener with everything from now on, until the returned function is called. */
  listen(listener: (text: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves with the match as soon as the recent output has one. Rejects with a `Fault` that shows the last lines when the signal
   * is aborted first.
   */
  async shows(pattern: RegExp, signal: AbortSignal): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const match = pattern.exec(this.#recent);
        if (match !== null) end(() => resolve(match));
        return match !== null;
      };
      const aborted = (): void =>
        end(() => reject(new Fault("Timeout", this.file, `${pattern} was not shown; last:\n${this.lastLines()}`)));
      const end = (settle: () => void): void => {
        this.#listeners.delete(look);
        signal.removeEventListener("abort", aborted);
        settle();
      };
      if (look()) return;
      if (signal.aborted) return aborted();
      this.#listeners.add(look);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  /** The end of what was said, as plain text: cursor movements and colours are left out. */
  lastLines(lines = 15): string {
    return plain(this.#recent).trimEnd().split("\n").slice(-lines).join("\n");
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#out.closed) return resolve();
      // All is written before, but the file is still open then.
      this.#out.once("close", () => resolve());
      this.#out.end();
    });
  }
}

/** Without terminal control sequences and other control characters but line ends. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/\x1b\[[0-9;?=]*[A-Za-z]|\x1b[()][A-Z0-9]|\r|[\x00-\x08\x0b-\x1f]/g, "");
}
