import { join } from "node:path";
import { type Clock, Fault, isFault, type Log, type Mac, macFromBytes } from "@slipway/base";
import type { BootFiles, OwnBoot } from "../dhcp/boot.ts";
import type { Client } from "../dhcp/client.ts";
import { conflictCheck } from "../dhcp/conflict.ts";
import type { DhcpListener } from "../dhcp/event.ts";
import { type Interface, openOn } from "../dhcp/interface.ts";
import { openLeases } from "../dhcp/leases/journal.ts";
import { viaText } from "../dhcp/leases/lease-lines.ts";
import { inWallTime, leaseTime } from "../dhcp/leases/lease-time.ts";
import { type LeaseCopy, type MirroredLeases, openMirrored } from "../dhcp/leases/mirror.ts";
import { LeaseTable } from "../dhcp/leases/table.ts";
import { Reservations } from "../dhcp/reservations.ts";
import { DhcpServer } from "../dhcp/server.ts";
import { type DhcpFace, serveDhcp } from "../dhcp/udp.ts";
import { parseIpv4 } from "../dhcp/wire/ipv4.ts";
import type { LeaseHolder } from "../hosts/presence.ts";
import type { NetbootSettings } from "../settings.ts";
import type { InheritedSockets } from "../sockets/inherited.ts";

/** DHCP that knows its leases; it reads no packet before `serve`. */
export interface DhcpPart {
  /** Whose an address is by our last word on it. In `proxy` mode none is ours. */
  holder(address: string): LeaseHolder | undefined;
  /** Ethernet cards that have a lease, and until when (ms since 1970). */
  leases(): { mac: Mac; at: number }[];
  /** Reads and answers until what this resolves with is closed. Rejects with a `Fault` when a port can't be had. */
  serve(): Promise<DhcpFace>;
  /** Gives up the leases, once no client is answered any more. */
  close(): Promise<void>;
}

export interface DhcpPlace {
  settings: NetbootSettings["dhcp"];
  boot: BootFiles;
  /** What one machine boots in place of the usual. */
  ownBoot: (client: Client) => OwnBoot | undefined;
  on: Interface;
  /** For the file of leases. */
  dir: string;
  notify: DhcpListener;
  clock: Clock;
  log: Log;
  inherited?: InheritedSockets;
  /** Where replicas that take turns find each other's leases. */
  copy?: LeaseCopy;
}

/** DHCP for one interface, as yet without a socket. Rejects with a `Fault` when the settings are wrong; nothing is left open then. */
export async function openDhcp(place: DhcpPlace): Promise<DhcpPart> {
  const { settings, boot, ownBoot, on, dir, notify, clock, log, inherited, copy } = place;
  const reservations = new Reservations(settings.reservations);
  const file = openLeases(join(dir, "leases"), { log });
  const conflicts = conflictCheck({ clock, interfaces: [on] });
  const config = { mode: settings.mode, subnets: settings.subnets, boot };
  let server: DhcpServer | undefined;
  let copied: MirroredLeases | undefined;
  let isLost = false;
  const shut = (): void => {
    conflicts.close();
    (copied ?? file).close();
  };
  try {
    if (copy !== undefined) {
      const onLost = (): void => {
        isLost = true;
        log.warn({}, "another replica serves DHCP; this one stops");
        server?.configure({ ...config, mode: "off" }, reservations);
      };
      copied = await openMirrored(file, { ...copy, clock, log, onLost }).catch((error: unknown) => {
        if (!isFault(error, "Forbidden")) throw error;
        const remedy = `let it list, get, create and update ConfigMaps in ${copy.namespace}`;
        log.warn({ error: error.message, remedy }, "leases are not copied: another replica would not know them");
        return undefined;
      });
      if (isLost) throw new Fault("Conflict", "dhcp leases", "another replica took them over meanwhile");
    }
    const time = leaseTime(clock);
    const leases = new LeaseTable(inWallTime(copied ?? file, time));
    const answering = new DhcpServer({
      ...{ config, leases, clock: time, reservations, ...conflicts, ownBoot },
      notify: (event) => notify(event.is === "bound" ? { ...event, expiresAt: time.toWall(event.expiresAt) } : event),
    });
    server = answering;
    return {
      holder: (address) =>
        settings.mode === "proxy" ? undefined : holderOf(address, { leases, reservations, now: time.now() }),
      leases: () =>
        leases.bound(time.now()).flatMap(({ client, expiresAt }) => {
          const mac = macOf(client);
          return mac === undefined ? [] : [{ mac, at: time.toWall(expiresAt) }];
        }),
      serve: () => serveDhcp(answering, on.addresses[0]!.address, { open: openOn(on, inherited), log }),
      async close() {
        await copied?.settle().catch((error: unknown) => log.warn({ error }, "the last leases were not copied"));
        shut();
      },
    };
  } catch (error) {
    shut();
    throw error;
  }
}

/** A living lease, else the reservation, else the lease that ended last. A declined one has no holder. */
function holderOf(
  text: string,
  { leases, reservations, now }: { leases: LeaseTable; reservations: Reservations; now: number },
): LeaseHolder | undefined {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(text)) return undefined;
  const address = parseIpv4(text);
  const held = leases.at(address);
  const living = held?.state === "bound" && held.expiresAt > now;
  const reserved = living ? undefined : reservations.holderOf(address);
  if (reserved !== undefined) return { mac: reserved, living: true };
  if (held?.state !== "bound" && held?.state !== "released") return undefined;
  const mac = macOf(held.client);
  return mac === undefined ? undefined : { mac, living, ...(held.via && { via: viaText(held.via) }) };
}

/** Of the key of an Ethernet card: its type and address (`client.ts`). */
function macOf(client: string): Mac | undefined {
  const [, hex] = /^1\/([0-9a-f]{12})$/.exec(client) ?? [];
  return hex === undefined ? undefined : macFromBytes(Buffer.from(hex, "hex"));
}
