import type { Duplex } from "node:stream";
import { Fault } from "@slipway/base";

/** QEMU's answers to what is asked here are short. */
const LONGEST_LINE = 256 * 1024;

/** Orders to a running QEMU (QEMU Machine Protocol: a JSON object a line, answered in order, events in between). */
export class Qmp {
  readonly #stream: Duplex;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Fault) => void }[] = [];
  /** Resolves when QEMU takes orders; rejects when it is gone before. */
  readonly ready: Promise<void>;
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
  async execute(command: "quit" | "system_reset" | "system_powerdown"): Promise<void> {
    await this.ready;
    await this.#send(command);
  }

  #send(execute: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(gone());
      this.#waiting.push({ resolve, reject });
      this.#stream.write(`${JSON.stringify({ execute })}\n`);
    });
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    if (this.#rest.length > LONGEST_LINE) this.#stream.destroy();
    for (const line of lines) this.#answer(JSON.parse(line) as { return?: unknown; error?: { desc: string } });
  }

  /** Greeting and events are nobody's answer. */
  #answer({ return: result, error }: { return?: unknown; error?: { desc: string } }): void {
    if (result !== undefined) this.#waiting.shift()?.resolve(result);
    else if (error !== undefined) this.#waiting.shift()?.reject(new Fault("Refused", "qemu", error.desc));
  }

  #close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(gone());
  }
}

function gone(): Fault {
  return new Fault("Unavailable", "qemu", "the machine is off");
}
