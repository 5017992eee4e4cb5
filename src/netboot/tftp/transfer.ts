import type { Clock, Timer } from "@slipway/base";
import type { OpenFile } from "../files/source.ts";
import { ERROR, encode, type Packet } from "./packet.ts";
import type { Terms } from "./terms.ts";

/** How a transfer ended. */
export type Outcome =
  | { is: "delivered" }
  /** The client wanted to know the size and went away, as UEFI firmware does first. */
  | { is: "probed" }
  /** The client said so; code and message are its own words. */
  | { is: "aborted"; code: number; message: string }
  /** Nothing arrived from the client, however often the last packets were repeated. */
  | { is: "timeout" }
  /** The file or a socket failed us. */
  | { is: "failed"; error: unknown }
  /** The server was closed, or the same client asked anew. */
  | { is: "dropped" };

export interface TransferParts {
  file: Pick<OpenFile, "size" | "read">;
  terms: Terms;
  clock: Clock;
  /** Towards the client. Never throws; a packet that can't be sent is a lost packet. */
  send(packet: Uint8Array): void;
  /** Called once. */
  ended(outcome: Outcome): void;
}

const FIRST_WAIT_MS = 1_000;

/** How often a window goes out, the first time included; with waits that double, a silent client is given up after 31 s. */
const SENDS = 5;

/**
 * One file on its way to one client (RFC 1350, windows as in RFC 7440).
 *
 * Block 0 is the option acknowledgement, where there is one. Blocks are counted without end and sent modulo 2^16, so a file may have
 * any size. An acknowledgement inside the window moves it on, to the block after the one named; any other, above all a
 * repeated one, is passed over: answering it would double the traffic for good (RFC 1123 §4.2.3.1). Only silence repeats a window.
 */
export class Transfer {
  readonly #parts: TransferParts;
  readonly #last: number;
  /** The last block that the client has. */
  #acked: number;
  /** The last block of the window that is out; `#acked` while it is being read. */
  #sent: number;
  #window: readonly Uint8Array[] = [];
  #sends = 0;
  #timer: Timer | undefined;
  #over = false;

  constructor(parts: TransferParts) {
    this.#parts = parts;
    const { file, terms } = parts;
    // The last block is shorter than the others, even if that leaves it empty.
    this.#last = Math.floor(file.size / terms.blockBytes) + 1;
    this.#acked = terms.acknowledged.length > 0 ? -1 : 0;
    this.#sent = this.#acked;
    this.#next();
  }

  /** Bytes that the client has confirmed. */
  get delivered(): number {
    return Math.min(Math.max(0, this.#acked) * this.#parts.terms.blockBytes, this.#parts.file.size);
  }

  /** A packet of the client of this transfer. */
  receive(packet: Packet): void {
    if (this.#over) return;
    if (packet.op === "ack") this.#acknowledged(packet.block);
    else if (packet.op === "error") {
      const probed = this.#parts.terms.sized && this.#acked < 1;
      this.#end(probed ? { is: "probed" } : { is: "aborted", code: packet.code, message: packet.message });
    }
  }

  /** Ends it without a word. */
  drop(): void {
    this.#end({ is: "dropped" });
  }

  #acknowledged(block: number): void {
    const forward = (block - this.#acked) & 0xffff;
    if (forward < 1 || forward > this.#sent - this.#acked) return;
    this.#acked += forward;
    this.#sent = this.#acked;
    if (this.#acked === this.#last) this.#end({ is: "delivered" });
    else this.#next();
  }

  /** Fetches the window after what is acknowledged and sends it. */
  #next(): void {
    this.#timer?.cancel();
    this.#sends = 0;
    if (this.#acked === -1) {
      this.#window = [encode({ op: "oack", options: this.#parts.terms.acknowledged })];
      this.#send();
      return;
    }
    this.#read().then(
      (window) => {
        if (this.#over) return;
        this.#window = window;
        this.#send();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  async #read(): Promise<Uint8Array[]> {
    const { file, terms } = this.#parts;
    const offset = this.#acked * terms.blockBytes;
    const length = Math.min(terms.window * terms.blockBytes, file.size - offset);
    const bytes = length === 0 ? new Uint8Array() : await file.read(offset, length);
    if (bytes.length !== length) throw new RangeError(`${bytes.length} of ${length} bytes at ${offset}`);
    const count = Math.min(terms.window, this.#last - this.#acked);
    return Array.from({ length: count }, (_, i) => {
      const block = (this.#acked + 1 + i) & 0xffff;
      return encode({ op: "data", block, bytes: bytes.subarray(i * terms.blockBytes, (i + 1) * terms.blockBytes) });
    });
  }

  #send(): void {
    const { terms, clock, send } = this.#parts;
    this.#sent = this.#acked + this.#window.length;
    const wait = terms.timeoutMs ?? FIRST_WAIT_MS * 2 ** this.#sends;
    this.#sends++;
    this.#timer = clock.after(wait, () => (this.#sends < SENDS ? this.#send() : this.#end({ is: "timeout" })));
    for (const packet of this.#window) send(packet);
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#parts.send(encode({ op: "error", code: ERROR.seeMessage, message: "the file can't be given now" }));
    this.#end({ is: "failed", error });
  }

  #end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.#window = [];
    this.#parts.ended(outcome);
  }
}
