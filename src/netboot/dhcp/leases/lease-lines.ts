import { crc32 } from "node:zlib";
import { formatIpv4, type Ipv4, ipv4OfKernel } from "../wire/ipv4.ts";
import type { Lease, Via } from "./lease.ts";

/**
 * The client as `clientOf` makes keys: the hardware's type, or `id`, and up to 255 bytes. The relay as `relayOf` reads it: its
 * address, circuit and remote. Lines of leases that were given on the link end before it.
 */
const LINE =
  /^(?<address>(?:\d{1,3}\.){3}\d{1,3}) (?<client>(?:\d{1,3}|id)\/[0-9a-f]{0,510}) (?<state>bound|released|declined) (?<expiresAt>\d{1,16})(?: via (?<giaddr>(?:\d{1,3}\.){3}\d{1,3})\/(?<circuit>[0-9a-f]{0,64})\/(?<remote>[0-9a-f]{0,64}))?$/;

/** What a sealed line ends with. */
const SEAL = /^(?<said>.*) #(?<sum>[0-9a-f]{8})$/;

/** Ends a line that a loss of power or a full disk has torn, so that what is left of it is not read as a lease. */
export const TORN = "?\n";

/** A line that leaves the address in doubt. */
export function writeDoubt(address: Ipv4): string {
  return `${formatIpv4(address)} ${TORN}`;
}

/** A lease as a line that people can read: address, client, state, end in milliseconds since the epoch, relay. */
export function writeLine(lease: Lease): string {
  return `${textOf(lease)}\n`;
}

/** The same with a checksum at its end (CRC-32 of what is before it), for files. */
export function writeSealedLine(lease: Lease): string {
  const text = textOf(lease);
  return `${text} #${crc32(text).toString(16).padStart(8, "0")}\n`;
}

function textOf({ address, client, state, expiresAt, via }: Lease): string {
  const relay = via === undefined ? "" : ` via ${viaText(via)}`;
  return `${formatIpv4(address)} ${client} ${state} ${expiresAt}${relay}`;
}

/** `10.8.0.1/CIRCUIT/REMOTE`. */
export function viaText({ giaddr, circuit = "", remote = "" }: Via): string {
  return `${formatIpv4(giaddr)}/${circuit}/${remote}`;
}

export interface ReadLines {
  leases: Map<Ipv4, Lease>;
  /** Addresses in damaged or torn lines, as far as no later line has them. Their leases are those of the last whole line. */
  doubtful: Set<Ipv4>;
  /** Numbers of the damaged lines, from 1. Torn ones are not counted: they were never acknowledged. */
  damaged: number[];
}

/**
 * Reads lines, sealed or not; the last one of an address counts. What stands after the last line end is left out.
 */
export function readLines(text: string): ReadLines {
  const leases = new Map<Ipv4, Lease>();
  const doubtful = new Set<Ipv4>();
  const damaged: number[] = [];
  for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
    const lease = leaseOf(line);
    if (lease !== undefined) {
      leases.set(lease.address, lease);
      doubtful.delete(lease.address);
      continue;
    }
    if (!line.endsWith("?")) damaged.push(index + 1);
    for (const address of addressesIn(line)) doubtful.add(address);
  }
  return { leases, doubtful, damaged };
}

/** Undefined: it is no lease, or not the one that was written. */
function leaseOf(line: string): Lease | undefined {
  const sealed = SEAL.exec(line)?.groups;
  const said = sealed?.said ?? line;
  if (sealed !== undefined && Number.parseInt(sealed.sum!, 16) !== crc32(said)) return undefined;
  const found = LINE.exec(said)?.groups;
  if (found === undefined) return undefined;
  const via = found.giaddr === undefined ? undefined : viaOf(found as Record<"giaddr", string>);
  return {
    address: ipv4OfKernel(found.address!),
    client: found.client!,
    state: found.state as Lease["state"],
    expiresAt: Number(found.expiresAt),
    ...(via !== undefined && { via }),
  };
}

/** More than one where the end of a line is damaged. */
function addressesIn(line: string): Ipv4[] {
  return Array.from(line.matchAll(/(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?= )/g), ([text]) => ipv4OfKernel(text));
}

function viaOf({ giaddr, circuit, remote }: { giaddr: string; circuit?: string; remote?: string }): Via {
  return { giaddr: ipv4OfKernel(giaddr), ...(circuit && { circuit }), ...(remote && { remote }) };
}
