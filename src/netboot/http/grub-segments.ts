import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { asFault, type Log, quietLog } from "@slipway/base";

export interface GrubSegmentsPorts {
  /** Whether a client at this address is on our own link, so that no narrower way lies between. */
  isOnLink(address: string): boolean;
  /** Makes a connection's segments as large as the link takes. Rejects with a `Fault` when the kernel refuses. */
  enlarge(socket: Socket): Promise<unknown>;
  log?: Log;
}

/** What is smaller is there before the segments would be larger. */
const LEAST_BYTES = 1024 * 1024;
/** Programs that run at one time; who asks beyond that gets small segments. */
const MOST_AT_ONCE = 8;

/**
 * Large files for GRUB in full segments. GRUB takes whole frames, but names no segment size when it connects, so the kernel sends it 536 bytes at a time, and
 * each segment costs GRUB about the same. Where the kernel refuses, that is logged once, and everything goes on with small segments.
 */
export class GrubSegments {
  readonly #ports: GrubSegmentsPorts;
  #running = 0;
  #refused = false;

  constructor(ports: GrubSegmentsPorts) {
    this.#ports = ports;
  }

  /** To be awaited before an answer with so many bytes begins. Never rejects. */
  async prepare({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">, bytes: number): Promise<void> {
    const { isOnLink, enlarge, log = quietLog } = this.#ports;
    if (bytes < LEAST_BYTES || !headers["user-agent"]?.startsWith("GRUB ")) return;
    if (this.#refused || this.#running >= MOST_AT_ONCE || socket instanceof TLSSocket) return;
    if (!isOnLink(socket.remoteAddress ?? "")) return;
    this.#running++;
    try {
      await enlarge(socket);
    } catch (error) {
      // A client that is gone says nothing of the next one.
      if (socket.destroyed || this.#refused) return;
      log.info({ reason: asFault(error, "TCP").advice }, "GRUB is sent small TCP segments");
      this.#refused = true;
    } finally {
      this.#running--;
    }
  }
}
