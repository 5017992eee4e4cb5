import { formatIpv4, type Ipv4, ipv4OfKernel } from "../wire/ipv4.ts";
import type { Lease } from "./lease.ts";

/** As `clientOf` makes keys: the hardware's type, or `id`, and up to 255 bytes. */
const LINE =
  /^(?<address>(?:\d{1,3}\.){3}\d{1,3}) (?<client>(?:\d{1,3}|id)\/[0-9a-f]{0,510}) (?<state>bound|released|declined) (?<expiresAt>\d{1,16})$/;

/** A lease as a line that people can read: address, client, state, end in milliseconds since the epoch. */
export function writeLine({ address, client, state, expiresAt }: Lease): string {
  return `${formatIpv4(address)} ${client} ${state} ${expiresAt}\n`;
}

/**
 * Reads lines; the last one of an address counts. Those that make no sense, or have no end, are left out: what they said is not known,
 * and such addresses are looked at before they are given.
 */
export function readLines(text: string): Map<Ipv4, Lease> {
  const leases = new Map<Ipv4, Lease>();
  for (const line of text.split("\n").slice(0, -1)) {
    const found = LINE.exec(line)?.groups;
    if (found === undefined) continue;
    const address = ipv4OfKernel(found.address!);
    const state = found.state as Lease["state"];
    leases.set(address, { address, client: found.client!, state, expiresAt: Number(found.expiresAt) });
  }
  return leases;
}
