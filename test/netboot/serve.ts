/**
 * Slipway's DHCP and TFTP as a process of their own, for tests and benchmarks that put them into a network namespace. Takes what to
 * serve as JSON, shows what happens as lines of JSON, and ends with its standard input.
 */
import { once } from "node:events";
import { quietLog, systemClock } from "@slipway/base";
import type { DhcpConfig } from "../../src/netboot/dhcp/config.ts";
import { conflictCheck } from "../../src/netboot/dhcp/conflict.ts";
import { interfaceNamed, openOn } from "../../src/netboot/dhcp/interface.ts";
import { openLeases } from "../../src/netboot/dhcp/leases/journal.ts";
import { LeaseTable } from "../../src/netboot/dhcp/leases/table.ts";
import { type Reservation, Reservations } from "../../src/netboot/dhcp/reservations.ts";
import { DhcpServer } from "../../src/netboot/dhcp/server.ts";
import { serveDhcp } from "../../src/netboot/dhcp/udp.ts";
import { formatIpv4 } from "../../src/netboot/dhcp/wire/ipv4.ts";
import { inheritedSockets } from "../../src/netboot/sockets/inherited.ts";

/** What is served, and where. */
export interface Serving {
  interface: string;
  config: DhcpConfig;
  reservations?: Reservation[];
  leases: string;
  /** Tells of nothing but its beginning and end. */
  quiet?: boolean;
}

/** One line of output. */
export type Line =
  | { is: "ready" }
  | { is: "ended"; counts: Record<string, number>; cpuMs: { user: number; system: number } }
  | { is: string; [more: string]: unknown };

const tell = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const serving = JSON.parse(process.argv[2]!) as Serving;
const store = openLeases(serving.leases);
const on = interfaceNamed(serving.interface);
const inherited = await inheritedSockets(process.env, process.pid);
const conflicts = conflictCheck({ clock: systemClock, interfaces: [on] });
const server = new DhcpServer({
  config: serving.config,
  leases: new LeaseTable(store),
  clock: systemClock,
  reservations: new Reservations(serving.reservations),
  ...conflicts,
  notify: (event) => {
    if (serving.quiet === true || event.is === "seen") return;
    const address = "address" in event ? formatIpv4(event.address) : undefined;
    tell({ ...event, address, ...("client" in event && { client: event.client.mac }) });
  },
});
const face = await serveDhcp(server, on.addresses[0]!.address, { open: openOn(on, inherited), log: quietLog });
tell({ is: "ready" });
process.stdin.resume();
await once(process.stdin, "end");
await face.close();
conflicts.close();
inherited.close();
store.close();
const { user, system } = process.cpuUsage();
tell({ is: "ended", counts: { ...face.counts }, cpuMs: { user: user / 1000, system: system / 1000 } });
