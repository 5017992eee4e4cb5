/** State of a simulation in a file: saved a little after each change, found again after the process was killed. SIMULATION. */
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  type Clock,
  diskFault,
  Fault,
  privateFile,
  privateFolder,
  replacePrivateFile,
  type Timer,
} from "@slipway/base";

export interface SavedStateOptions {
  clock: Clock;
  /** From a change to its write; all changes in between are one write. */
  debounceMs: number;
  /** Called when a write in the background failed. The state is written again at the next change or `flush`. */
  onFault?: (fault: Fault) => void;
}

export interface SavedState {
  /** What was saved last; undefined: nothing was. Throws a `Fault`: `Invalid` when the file is not JSON, `Unavailable` when it can't be read. */
  load(): Promise<unknown>;
  /** Something changed: `read` is asked when it is time to write. */
  changed(read: () => object): void;
  /** Writes what is not yet written and waits for it; rejects with a `Fault` (`Unavailable`) when that failed. To be called before the process ends. */
  flush(): Promise<void>;
}

/**
 * Keeps one JSON value in `file`, readable by its owner only. The file holds a whole state at any moment, the old or the new
 * one: a write goes to `file.new`, which then takes its name. There is never more than one write at a time, nor per `debounceMs`.
 */
export function savedState(file: string, { clock, debounceMs, onFault }: SavedStateOptions): SavedState {
  /** Gives what is to be written; undefined: everything is. */
  let unsaved: (() => object) | undefined;
  let timer: Timer | undefined;
  let writing: Promise<void> | undefined;

  const stopTimer = (): void => {
    timer?.cancel();
    timer = undefined;
  };

  const write = async (): Promise<void> => {
    const read = unsaved;
    if (read === undefined) return;
    unsaved = undefined;
    try {
      await replace(file, JSON.stringify(read()));
    } catch (cause) {
      unsaved ??= read;
      const { message, remedy = "see that its folder exists and may be written" } = diskFault(file, cause);
      throw new Fault("Unavailable", file, `the state could not be saved: ${message}`, { remedy, cause });
    }
  };

  const begin = (): Promise<void> => {
    const current = write().finally(() => {
      writing = undefined;
    });
    writing = current;
    return current;
  };

  const due = (): void => {
    timer = undefined;
    // A slow disk: what changed meanwhile waits for another round.
    if (writing !== undefined) arm();
    else void begin().catch((fault: Fault) => onFault?.(fault));
  };

  const arm = (): void => {
    timer ??= clock.after(debounceMs, due);
  };

  return {
    load: () => load(file),
    changed(read) {
      unsaved = read;
      arm();
    },
    async flush() {
      stopTimer();
      // One that fails leaves its state unsaved: the next round saves it.
      while (writing !== undefined) await writing.catch(() => {});
      stopTimer();
      if (unsaved !== undefined) await begin();
    },
  };
}

async function load(file: string): Promise<unknown> {
  privateFile(file, { ifThere: true });
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw new Fault("Unavailable", file, `the saved state can't be read (${cause.code ?? cause.name})`, { cause });
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the text, and that may hold keys.
    throw new Fault("Invalid", file, "the saved state is not JSON", { remedy: `delete ${file} to begin anew` });
  }
}

async function replace(file: string, text: string): Promise<void> {
  privateFolder(dirname(file));
  await replacePrivateFile(file, text);
}
