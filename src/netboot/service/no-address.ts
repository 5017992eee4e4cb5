import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Tell } from "../dhcp/event.ts";

const HOUR_MS = 3_600_000;

/** Warns of networks in which a client gets no address, for each reason at most once an hour: the client itself hears nothing. */
export function warningOfNoAddress({ clock, log }: { clock: Pick<Clock, "now">; log: Log }): Tell {
  const warned = new Map<string, number>();
  return (event) => {
    if (event.is !== "noAddress") return;
    const { subnet, because, client } = event;
    const now = clock.now();
    const before = warned.get(`${subnet} ${because}`);
    if (before !== undefined && now - before < HOUR_MS) return;
    warned.set(`${subnet} ${because}`, now);
    log.warn({ subnet, client: client.mac, reason: because }, "DHCP has no address for a client");
  };
}
