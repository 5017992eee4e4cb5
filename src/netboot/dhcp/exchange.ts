import type { Mac } from "../../base/mac.ts";
import type { AddressBook } from "./address-book.ts";
import type { Client } from "./client.ts";
import type { Tell } from "./event.ts";
import type { LeaseTable } from "./leases/table.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import { MESSAGE } from "./options/message-type.ts";
import type { Reserved } from "./reservations.ts";
import { inSubnet, type Subnet } from "./subnet.ts";
import { ANY, type Ipv4 } from "./wire/ipv4.ts";
import { tolerant } from "./wire/malformed.ts";
import type { Message } from "./wire/message.ts";

/** Whether a machine other than the client already answers at the address. */
export type InUse = (address: Ipv4, client: Mac | undefined) => Promise<boolean>;

/** What all steps of the exchange with one client know. */
export interface Exchange {
  message: Message;
  client: Client;
  subnet: Subnet;
  reserved: Reserved | undefined;
  /** The server's own addresses, as the client may name them. */
  us: readonly Ipv4[];
  now: number;
}

export interface Means {
  book: AddressBook;
  leases: LeaseTable;
  inUse: InUse | undefined;
  tell: Tell;
}

/** The answer to a client, before it is written. `leaseMs` undefined: no address is given, only information. */
export type Verdict =
  | { say: "offer"; address: Ipv4; leaseMs: number }
  | { say: "ack"; address: Ipv4; leaseMs: number | undefined }
  | { say: "nak"; because: string }
  | { say: "nothing" };

const NOTHING: Verdict = { say: "nothing" };

/** So many addresses are looked at for one client before it has to ask again. */
const PROBES = 3;

/**
 * Decides what a client is told by RFC 2131 §4.3, and keeps the leases true. Resolves when what it says is durable.
 * An address is refused (NAK) only to who names this server or claims an address that is this server's to give.
 */
export async function decide(type: number, exchange: Exchange, means: Means): Promise<Verdict> {
  switch (type) {
    case MESSAGE.discover:
      return offer(exchange, means);
    case MESSAGE.request:
      return request(exchange, means);
    case MESSAGE.decline:
      return decline(exchange, means);
    case MESSAGE.release:
      return release(exchange, means);
    case MESSAGE.inform:
      return inform(exchange);
    default:
      return NOTHING;
  }
}

async function offer(exchange: Exchange, means: Means): Promise<Verdict> {
  const { message, client, subnet, now } = exchange;
  const { book, leases, inUse, tell } = means;
  for (let probe = 0; probe < PROBES; probe++) {
    const chosen = book.choose(client, addressIn(message, OPTION.requestedAddress), subnet, now);
    if (chosen.address === undefined) {
      tell({ is: "noAddress", client, subnet: subnet.name, because: chosen.because });
      return NOTHING;
    }
    const { address } = chosen;
    const held = leases.at(address);
    const itsOwn = held?.client === client.key && held.expiresAt > now;
    // Kept while it is looked at, so that nobody else is offered the same meanwhile.
    leases.offer(address, client.key, now);
    // Whoever had a lease of it, we know; at all others we look.
    const leased = held?.state === "bound" || held?.state === "released";
    if (itsOwn || leased || !(await inUse?.(address, client.mac)))
      return { say: "offer", address, leaseMs: leaseMs(exchange) };
    tell({ is: "inUse", address });
    await leases.decline(address, client.key, now + subnet.quarantineMs);
  }
  return NOTHING;
}

async function request(exchange: Exchange, means: Means): Promise<Verdict> {
  const { message, client, us, now } = exchange;
  const { leases } = means;
  const server = addressIn(message, OPTION.serverIdentifier);
  if (server !== undefined && !us.includes(server)) {
    // It took another server's offer.
    if (message.giaddr === ANY) means.tell({ is: "elsewhere", client, server });
    leases.withdraw(client.key, now);
    return NOTHING;
  }
  const asked = addressIn(message, OPTION.requestedAddress);
  const address = message.ciaddr === ANY ? asked : message.ciaddr;
  if (address === undefined) return NOTHING;
  const because = means.book.obstacle(client, address, exchange.subnet, now);
  if (because === undefined) {
    // A client that comes back with an address we know nothing of may belong to another server (RFC 2131 §4.3.2).
    const rebooted = server === undefined && message.ciaddr === ANY;
    if (rebooted && leases.of(client.key)?.address !== address && exchange.reserved?.address !== address)
      return NOTHING;
    return bind(address, exchange, means);
  }
  if (server === undefined && !means.book.owns(address, exchange.subnet, now)) return NOTHING;
  means.tell({ is: "refused", client, address, because });
  return { say: "nak", because };
}

async function bind(address: Ipv4, exchange: Exchange, { leases, tell }: Means): Promise<Verdict> {
  const { client, now } = exchange;
  const ms = leaseMs(exchange);
  await leases.bind(address, client.key, now + ms);
  tell({ is: "bound", client, address, expiresAt: now + ms });
  return { say: "ack", address, leaseMs: ms };
}

/** Only of an address that it was given can a client say that somebody else has it. */
async function decline({ message, client, subnet, us, now }: Exchange, { leases, tell }: Means): Promise<Verdict> {
  const address = addressIn(message, OPTION.requestedAddress);
  const server = addressIn(message, OPTION.serverIdentifier);
  const held = address === undefined ? undefined : leases.at(address);
  if (address === undefined || held?.client !== client.key || held.state === "declined") return NOTHING;
  if (server !== undefined && !us.includes(server)) return NOTHING;
  await leases.decline(address, client.key, now + subnet.quarantineMs);
  tell({ is: "declined", client, address });
  return NOTHING;
}

async function release({ message, client, us, now }: Exchange, { leases, tell }: Means): Promise<Verdict> {
  const address = message.ciaddr;
  const server = addressIn(message, OPTION.serverIdentifier);
  const held = leases.at(address);
  if (held?.client !== client.key || held.state !== "bound") return NOTHING;
  if (server !== undefined && !us.includes(server)) return NOTHING;
  await leases.release(address, client.key, now);
  tell({ is: "released", client, address });
  return NOTHING;
}

/** RFC 2131 §4.3.5: information for who has an address of its own, without a lease. */
function inform({ message, subnet }: Exchange): Verdict {
  if (message.ciaddr === ANY || !inSubnet(subnet, message.ciaddr)) return NOTHING;
  return { say: "ack", address: ANY, leaseMs: undefined };
}

function leaseMs({ client, subnet }: Exchange): number {
  return client.loader === undefined && client.ipxe === undefined ? subnet.leaseMs : subnet.bootLeaseMs;
}

function addressIn({ options }: Message, code: number): Ipv4 | undefined {
  const bytes = options.get(code);
  return bytes === undefined ? undefined : tolerant(() => addresses.decodeOne(bytes));
}
