import type { Clock, Log } from "@slipway/base";
import type { DhcpListener } from "../dhcp/event.ts";

const HOUR_MS = 3_600_000;
/** Networks and reasons of an hour; more would only fill the log. */
const MOST = 256;

/** Warns of networks in which a client gets no address, for each reason at most once an hour: the client itself gets no answer. */
export function warningOfNoAddress({ clock, log }: { clock: Pick<Clock, "monotonic">; log: Log }): DhcpListener {
  /** When each was warned of; the longest ago stands first. */
  const warned = new Map<string, number>();
  return (event) => {
    if (event.is !== "noAddress") return;
    const { subnet, because, client } = event;
    const now = clock.monotonic();
    for (const [each, at] of warned) if (now - at >= HOUR_MS) warned.delete(each);
    const key = `${subnet} ${because}`;
    if (warned.has(key) || warned.size >= MOST) return;
    warned.set(key, now);
    log.warn({ subnet, client: client.mac, reason: because }, "DHCP has no address for a client");
  };
}
