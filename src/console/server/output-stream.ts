import type { Clock, Timer } from "@slipway/base";
import type { OutputTail } from "../../inventory/outputs/tail.ts";
import type { Sink, StreamTimes } from "./event-stream.ts";

const CHUNK_BYTES = 12 * 1024;

/**
 * A machine's output as server-sent events of base64: what is kept of it, then what comes; bytes of 40 ms go together. Nothing is held for a slow reader: one that takes nothing for
 * too long, or of whose next bytes the tail has let go, is cut off. It comes back by itself, and gets what is kept then.
 */
export class OutputStream {
  readonly #sink: Sink & { end(): void };
  readonly #tail: OutputTail;
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  readonly #times: StreamTimes;
  readonly #stop: () => void;
  #sent: number;
  #full = false;
  #closed = false;
  #sentAt: number;
  #soon: Timer | undefined;
  #stalled: Timer | undefined;
  #ping: Timer | undefined;

  constructor(
    sink: Sink & { end(): void },
    tail: OutputTail,
    clock: Pick<Clock, "after" | "monotonic">,
    times: StreamTimes,
  ) {
    [this.#sink, this.#tail, this.#clock, this.#times] = [sink, tail, clock, times];
    this.#sent = tail.begin;
    this.#sentAt = clock.monotonic() - times.batchMs;
    this.#stop = tail.listen(() => this.#pumpSoon());
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
    for (const timer of [this.#soon, this.#stalled, this.#ping]) timer?.cancel();
  }

  /** A machine that is typed at sends byte by byte: what comes soon after what was sent waits for more. */
  #pumpSoon(): void {
    const waitMs = this.#sentAt + this.#times.batchMs - this.#clock.monotonic();
    const isMuch = this.#tail.end - this.#sent >= CHUNK_BYTES || this.#sent < this.#tail.begin;
    if (waitMs <= 0 || isMuch || this.#tail.isOver) this.#pump();
    else this.#soon ??= this.#clock.after(waitMs, () => this.#pump());
  }

  #pump(): void {
    this.#soon?.cancel();
    this.#soon = undefined;
    if (this.#closed) return;
    if (this.#sent < this.#tail.begin) {
      this.#cut();
      return;
    }
    while (!this.#full && this.#sent < this.#tail.end) {
      const bytes = this.#tail.from(this.#sent, CHUNK_BYTES);
      this.#sent += bytes.length;
      this.#sentAt = this.#clock.monotonic();
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
