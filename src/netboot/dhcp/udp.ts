import { isFault, type Log } from "@slipway/base";
import { BOOT_SERVER_PORT, SERVER_PORT } from "./arrival.ts";
import type { DhcpServer } from "./server.ts";
import type { DatagramSocket, OpenSocket, Receive } from "./socket.ts";
import { formatIpv4, type Ipv4 } from "./wire/ipv4.ts";
import { Malformed } from "./wire/malformed.ts";
import { decode } from "./wire/message.ts";

export interface DhcpFace {
  /** Messages by what became of them. */
  readonly counts: Readonly<Counts>;
  /** Stops listening, and resolves when the messages being worked on are answered. */
  close(): Promise<void>;
}

export interface Counts {
  received: number;
  answered: number;
  malformed: number;
  /** More came at once than are worked on, or this was closing; their clients ask again. */
  dropped: number;
  failed: number;
}

/** Messages that are worked on at once. */
const MOST_AT_ONCE = 4096;

/**
 * Serves DHCP at one local address, ports 67 and 4011. No packet, failed lease or failed send ends it: the next client is answered.
 * Rejects when a port can't be had.
 */
export async function serveDhcp(
  server: Pick<DhcpServer, "answer">,
  local: Ipv4,
  { open, log }: { open: OpenSocket; log: Log },
): Promise<DhcpFace> {
  const counts: Counts = { received: 0, answered: 0, malformed: 0, dropped: 0, failed: 0 };
  const working = new Set<Promise<void>>();
  const sockets: DatagramSocket[] = [];
  let closing = false;

  const receiver = (
    port: typeof SERVER_PORT | typeof BOOT_SERVER_PORT,
    socket: () => DatagramSocket | undefined,
  ): Receive => {
    const work = async (bytes: Uint8Array, from: { address: Ipv4; port: number }): Promise<void> => {
      try {
        const answer = await server.answer({ message: decode(bytes), from, local, port });
        if (answer === undefined) return;
        if (answer.leftOut.length > 0)
          log.warn(
            { client: formatIpv4(answer.to.address), options: answer.leftOut },
            "DHCP options left out for want of room",
          );
        await socket()?.send(answer.bytes, answer.to);
        counts.answered += 1;
      } catch (error) {
        counts[error instanceof Malformed ? "malformed" : "failed"] += 1;
        logUnanswered(log, formatIpv4(from.address), error);
      }
    };
    return (bytes, from) => {
      counts.received += 1;
      if (closing || working.size >= MOST_AT_ONCE) {
        counts.dropped += 1;
        return;
      }
      const one = work(bytes, from).finally(() => working.delete(one));
      working.add(one);
    };
  };

  const close = async (): Promise<void> => {
    closing = true;
    await Promise.all(working);
    await Promise.all(sockets.map((socket) => socket.close()));
  };
  try {
    for (const [i, port] of ([SERVER_PORT, BOOT_SERVER_PORT] as const).entries())
      sockets.push(
        await open(
          local,
          port,
          receiver(port, () => sockets[i]),
        ),
      );
  } catch (error) {
    await close();
    throw error;
  }
  return { counts, close };
}

function logUnanswered(log: Log, from: string, error: unknown): void {
  if (error instanceof Malformed) log.debug({ from, why: error.message }, "DHCP message can't be read");
  // Of leases that can't be written the log has one line, not one for each client.
  else if (isFault(error, "Unavailable")) log.debug({ from, error }, "no lease");
  else log.warn({ from, error }, "DHCP message could not be answered");
}
