import type { Clock, Timer } from "@slipway/base";
import type { OutputTail } from "../../inventory/outputs/tail.ts";
import type { Sink, StreamTimes } from "./event-stream.ts";

const CHUNK_BYTES = 12 * 1024;

/**
 * A machine's output as server-sent events of base64: what is kept of it, then what comes. Nothing is held for a slow reader: one that takes nothing for
 * too long, or of whose next bytes the tail has let go, is cut off. It comes back by itself, and gets what is kept then.
 */
export class OutputStream {
  readonly #sink: Sink & { end(): void };
  readonly #tail: OutputTail;
  readonly #clock: Pick<Clock, "after">;
  readonly #times: StreamTimes;
  readonly #stop: () => void;
  #sent: number;
  #full = false;
  #closed = false;
  #stalled: Timer | undefined;
  #ping: Timer | undefined;

  constructor(sink: Sink & { end(): void }, tail: OutputTail, clock: Pick<Clock, "after">, times: StreamTimes) {
    [this.#sink, this.#tail, this.#clock, this.#times] = [sink, tail, clock, times];
    this.#sent = tail.begin;
    this.#stop = tail.listen(() => this.#pump());
    this.#write("retry: 2000\n\n");
    this.#rearm();
    this.#pump();
  }

  /** The reader has taken what was written. */
  drained(): void {
    this.#full = false;
    this.#stalled?.cancel();
    this.#pump();
  }

  /** Sends nothing more. The connection is its owner's to end. */
  close(): void {
    this.#closed = true;
    this.#stop();
    this.#stalled?.cancel();
    this.#ping?.cancel();
  }

  #pump(): void {
    if (this.#closed) return;
    if (this.#sent < this.#tail.begin) {
      this.#cut();
      return;
    }
    while (!this.#full && this.#sent < this.#tail.end) {
      const bytes = this.#tail.from(this.#sent, CHUNK_BYTES);
      this.#sent += bytes.length;
      this.#write(`data: ${Buffer.from(bytes).toString("base64")}\n\n`);
    }
    if (!this.#tail.isOver || this.#sent < this.#tail.end) return;
    this.close();
    this.#sink.end();
  }

  #write(text: string): void {
    if (this.#sink.write(text)) return;
    this.#full = true;
    this.#stalled?.cancel();
    this.#stalled = this.#clock.after(this.#times.stalledMs, () => this.#cut());
  }

  #cut(): void {
    this.close();
    this.#sink.destroy();
  }

  #rearm(): void {
    this.#ping = this.#clock.after(this.#times.pingMs, () => {
      if (!this.#full) this.#write(": here\n\n");
      this.#rearm();
    });
  }
}
