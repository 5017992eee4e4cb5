import type { Clock, Log } from "@slipway/base";
import type { DhcpListener } from "../dhcp/event.ts";
import { formatIpv4, type Ipv4 } from "../dhcp/wire/ipv4.ts";

const HOUR_MS = 3_600_000;
/** Whoever names more than these in an hour does so to fill the log. */
const MOST = 16;

/**
 * Warns of other DHCP servers on the network by what machines take of theirs, of each at most once an hour. Where we give addresses as well,
 * a machine boots what we say only when our offer happens to be the first.
 */
export function warningOfOthers({ clock, log }: { clock: Pick<Clock, "monotonic">; log: Log }): DhcpListener {
  /** When each was warned of; the longest ago stands first. */
  const warned = new Map<Ipv4, number>();
  return (event) => {
    if (event.is !== "elsewhere") return;
    const now = clock.monotonic();
    for (const [server, at] of warned) if (now - at >= HOUR_MS) warned.delete(server);
    if (warned.has(event.server) || warned.size >= MOST) return;
    warned.set(event.server, now);
    log.warn(
      { server: formatIpv4(event.server), client: event.client.mac, remedy: "use --dhcp proxy beside it, or stop it" },
      "another DHCP server gives addresses on this network",
    );
  };
}
