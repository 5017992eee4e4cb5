import type { Duplex } from "node:stream";
import { Fault } from "@slipway/base";

/** QEMU's answers to what is asked here are short. */
const LONGEST_LINE = 256 * 1024;

/** Orders that are given here, and what goes with them. */
export interface QmpArguments {
  quit: undefined;
  system_reset: undefined;
  /** Asks the operating system to shut down (ACPI). */
  system_powerdown: undefined;
  "qom-set": { path: string; property: string; value: number };
  "blockdev-change-medium": { id: string; filename: string; format: "raw"; "read-only-mode": "read-only" };
  eject: { id: string; force: boolean };
}

/** Orders to a running QEMU (QEMU Machine Protocol: a JSON object a line, answered in order, events in between). */
export class Qmp {
  readonly #stream: Duplex;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Fault) => void }[] = [];
  /** Resolves when QEMU takes orders; rejects when it is gone before. */
  readonly ready: Promise<void>;
  readonly #listeners = new Set<(event: string) => void>();
  #rest = "";
  #closed = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => this.#read(text));
    // The close that follows reports its end.
    stream.on("error", () => {});
    stream.on("close", () => this.#close());
    this.ready = this.#send("qmp_capabilities").then(() => {});
    this.ready.catch(() => {});
  }

  /** Carries out a command. Rejects with a `Fault` when QEMU refuses it or is gone. */
  async execute<Command extends keyof QmpArguments>(
    command: Command,
    ...[given]: QmpArguments[Command] extends undefined ? [] : [QmpArguments[Command]]
  ): Promise<void> {
    await this.ready;
    await this.#send(command, given);
  }

  /** Calls back with the name of each event (`RESET`, `SHUTDOWN`), as long as QEMU runs. */
  onEvent(listener: (event: string) => void): void {
    this.#listeners.add(listener);
  }

  #send(execute: string, given?: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(gone());
      this.#waiting.push({ resolve, reject });
      this.#stream.write(`${JSON.stringify({ execute, arguments: given })}\n`);
    });
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    if (this.#rest.length > LONGEST_LINE) this.#stream.destroy();
    for (const line of lines) this.#answer(JSON.parse(line) as Line);
  }

  /** Greeting and events are nobody's answer. */
  #answer({ return: result, error, event }: Line): void {
    if (event !== undefined) for (const listener of this.#listeners) listener(event);
    else if (result !== undefined) this.#waiting.shift()?.resolve(result);
    else if (error !== undefined) this.#waiting.shift()?.reject(new Fault("Refused", "qemu", error.desc));
  }

  #close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(gone());
  }
}

interface Line {
  return?: unknown;
  error?: { desc: string };
  event?: string;
}

function gone(): Fault {
  return new Fault("Unavailable", "qemu", "the machine is off");
}
