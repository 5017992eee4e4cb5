import type { Mac } from "@slipway/base";
import type { AddressBook, Seeker } from "./address-book.ts";
import type { DhcpListener } from "./event.ts";
import type { Via } from "./leases/lease.ts";
import type { LeaseTable } from "./leases/table.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import { MESSAGE } from "./options/message-type.ts";
import type { Reserved } from "./reservations.ts";
import { inSubnet } from "./subnet.ts";
import { ANY, type Ipv4 } from "./wire/ipv4.ts";
import { tolerant } from "./wire/malformed.ts";
import type { Message } from "./wire/message.ts";

/** Whether a machine other than the client already answers at the address. */
export type InUse = (address: Ipv4, client: Mac | undefined) => Promise<boolean>;

/** Is told which addresses may be offered next, so that it can look at them before somebody waits for that. Reads as many as it has a use for. */
export type Expect = (next: Iterable<Ipv4>) => void;

/** What all steps of the exchange with one client know. */
export interface Exchange extends Seeker {
  message: Message;
  reserved: Reserved | undefined;
  /** The relay that the message came through. */
  via: Via | undefined;
  /** The server's own addresses, as the client may name them. */
  us: readonly Ipv4[];
}

export interface Means {
  book: AddressBook;
  leases: LeaseTable;
  inUse: InUse | undefined;
  expect: Expect | undefined;
  notify: DhcpListener;
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
 * Decides the answer to a client by RFC 2131 §4.3, and keeps the leases true. Resolves when what it says is durable.
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
  const { book, leases, inUse, expect, notify } = means;
  for (let probe = 0; probe < PROBES; probe++) {
    const chosen = book.choose(exchange, addressIn(message, OPTION.requestedAddress));
    if (chosen.address === undefined) {
      notify({ is: "noAddress", client, subnet: subnet.name, because: chosen.because });
      return NOTHING;
    }
    const { address } = chosen;
    const held = leases.at(address);
    const itsOwn = held?.client === client.key && held.expiresAt > now;
    // Kept while it is looked at, so that no other client is offered the same meanwhile.
    leases.offer(address, client.key, now);
    // Whoever had a lease of it, we know; at all others we look.
    const leased = (held?.state === "bound" || held?.state === "released") && !leases.isDoubtful(address);
    const isKnown = itsOwn || leased;
    const used = isKnown ? false : inUse?.(address, client.mac);
    if (!isKnown) expect?.(book.next(subnet, now));
    if (!(await used)) return { say: "offer", address, leaseMs: leaseMs(exchange) };
    notify({ is: "inUse", address });
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
    if (message.giaddr === ANY) means.notify({ is: "elsewhere", client, server });
    leases.withdraw(client.key, now);
    return NOTHING;
  }
  const asked = addressIn(message, OPTION.requestedAddress);
  const address = message.ciaddr === ANY ? asked : message.ciaddr;
  if (address === undefined) return NOTHING;
  const because = means.book.obstacle(exchange, address, { asked: server !== undefined });
  if (because === undefined) {
    // A client that comes back with an address we know nothing of may belong to another server (RFC 2131 §4.3.2).
    const rebooted = server === undefined && message.ciaddr === ANY;
    if (rebooted && leases.of(client.key)?.address !== address && exchange.reserved?.address !== address)
      return NOTHING;
    return bind(address, exchange, means);
  }
  if (server === undefined && !means.book.owns(address, exchange.subnet, now)) return NOTHING;
  means.notify({ is: "refused", client, address, because });
  return { say: "nak", because };
}

async function bind(address: Ipv4, exchange: Exchange, { leases, notify }: Means): Promise<Verdict> {
  const { client, subnet, now } = exchange;
  const ms = leaseMs(exchange);
  const via = wayOf(address, exchange, leases);
  const lease = { address, client: client.key, expiresAt: now + ms, ...(via && { via }) };
  await leases.bind(lease, { now, has: (other) => inSubnet(subnet, other) });
  notify({ is: "bound", client, address, expiresAt: now + ms, ...(via && { via }) });
  return { say: "ack", address, leaseMs: ms };
}

/**
 * The way that a lease is given by. A renewal comes straight from the client, behind a relay as well (RFC 2131 §4.3.2), so its lease
 * keeps its way. A living lease of our own link is not taken from it by a message that claims to be relayed.
 */
function wayOf(
  address: Ipv4,
  { message, client, subnet, via, us, now }: Exchange,
  leases: LeaseTable,
): Via | undefined {
  const held = leases.at(address);
  const own = held?.client === client.key && held.state === "bound" && held.expiresAt > now ? held : undefined;
  if (via === undefined) return message.ciaddr === ANY ? undefined : own?.via;
  const isOurLink = us[0] !== undefined && inSubnet(subnet, us[0]);
  return own !== undefined && own.via === undefined && isOurLink ? undefined : via;
}

/** A client may decline only an address that it was given. */
async function decline({ message, client, subnet, us, now }: Exchange, { leases, notify }: Means): Promise<Verdict> {
  const address = addressIn(message, OPTION.requestedAddress);
  const server = addressIn(message, OPTION.serverIdentifier);
  const held = address === undefined ? undefined : leases.at(address);
  if (address === undefined || held?.client !== client.key || held.state === "declined") return NOTHING;
  if (server !== undefined && !us.includes(server)) return NOTHING;
  if (!leases.mayDecline(client.key, now)) return NOTHING;
  await leases.decline(address, client.key, now + subnet.quarantineMs);
  notify({ is: "declined", client, address });
  return NOTHING;
}

async function release({ message, client, us, now }: Exchange, { leases, notify }: Means): Promise<Verdict> {
  const address = message.ciaddr;
  const server = addressIn(message, OPTION.serverIdentifier);
  const held = leases.at(address);
  if (held?.client !== client.key || held.state !== "bound") return NOTHING;
  if (server !== undefined && !us.includes(server)) return NOTHING;
  await leases.release(address, client.key, now);
  notify({ is: "released", client, address });
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
