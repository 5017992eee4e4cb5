import { type Clock, type Log, parseCidr } from "@slipway/base";
import type { Interface } from "../dhcp/interface.ts";
import { formatIpv4, type Ipv4, maskOf, parseIpv4 } from "../dhcp/wire/ipv4.ts";
import { type Presences, presences } from "../hosts/presence.ts";
import type { NetbootSettings } from "../settings.ts";
import { neighbours } from "../sockets/neighbours.ts";
import type { DhcpPart } from "./dhcp-part.ts";

export interface SpeakersPlace {
  settings: Pick<NetbootSettings, "dhcp">;
  on: Interface;
  /** Undefined: it is off. */
  dhcp: Pick<DhcpPart, "holder"> | undefined;
  clock: Pick<Clock, "monotonic">;
  log: Log;
}

interface Network {
  address: Ipv4;
  mask: Ipv4;
}

const HOUR_MS = 3_600_000;
/** Whoever is refused at more addresses than these in an hour does so to fill the log. */
const MOST_WARNINGS = 16;
const REMEDY = "where another DHCP server gives the addresses, name the network with --foreign or under dhcp.foreign";

/** Who speaks, by our leases and the kernel's neighbours on this interface. Of addresses that are refused the log has a warning. */
export function speakers({ settings, on, dhcp, clock, log }: SpeakersPlace): Presences {
  const foreign = foreignNetworks(settings, on);
  const who = presences({
    lease: (address) => dhcp?.holder(address),
    neighbour: (address) => neighbours(on.name).get(address),
    isOnLink: (address) => isIn(on.addresses, address),
    isForeign: (address) => isIn(foreign, address),
  });
  /** When each was warned of; the longest ago stands first. */
  const warned = new Map<string, number>();
  return {
    of(sourceAddress) {
      const presence = who.of(sourceAddress);
      if (presence.is !== "refused") return presence;
      const { address, because } = presence;
      const now = clock.monotonic();
      for (const [each, at] of warned) if (now - at >= HOUR_MS) warned.delete(each);
      if (warned.has(address) || warned.size >= MOST_WARNINGS) return presence;
      warned.set(address, now);
      log.warn(
        { address, reason: because, remedy: REMEDY },
        "a client is refused: it is not known which machine it is",
      );
      return presence;
    },
  };
}

/** Networks in which another DHCP server gives the addresses: those that are declared, and the link itself where we give none. */
export function foreignNetworks({ dhcp }: Pick<NetbootSettings, "dhcp">, on: Interface): Network[] {
  const declared = dhcp.foreign.map((text) => {
    const { address, prefix } = parseCidr(text);
    return { address: Number(address.value), mask: maskOf(prefix) };
  });
  return dhcp.mode === "proxy" || dhcp.mode === "off" ? [...declared, ...on.addresses] : declared;
}

/** `10.20.0.0/24`. */
export function networkText({ address, mask }: Network): string {
  return `${formatIpv4((address & mask) >>> 0)}/${32 - Math.log2((~mask >>> 0) + 1)}`;
}

function isIn(networks: readonly Network[], text: string): boolean {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return false;
  const asked = parseIpv4(text);
  return networks.some(({ address, mask }) => (address & mask) === (asked & mask));
}
