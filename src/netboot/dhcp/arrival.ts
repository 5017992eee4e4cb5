import { createHash } from "node:crypto";
import type { Via } from "./leases/lease.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import * as numbers from "./options/numbers.ts";
import * as relayAgent from "./options/relay-agent.ts";
import { ORDINARY_LIMIT } from "./wire/encode.ts";
import { ANY, BROADCAST, type Ipv4 } from "./wire/ipv4.ts";
import { tolerant } from "./wire/malformed.ts";
import { BROADCAST_FLAG, type Message } from "./wire/message.ts";

export const SERVER_PORT = 67;
const CLIENT_PORT = 68;
/** Where PXE firmware asks for its boot file once it has an address (PXE 2.1 §2.2.3). */
export const BOOT_SERVER_PORT = 4011;

export interface Endpoint {
  address: Ipv4;
  port: number;
}

/** A message, and where it came from and to. */
export interface Arrival {
  message: Message;
  from: Endpoint;
  /** Our own address on the network it came by: our server identifier, and the key to the client's network. */
  local: Ipv4;
  port: typeof SERVER_PORT | typeof BOOT_SERVER_PORT;
}

/** The largest UDP payload that an Ethernet carries in one piece. */
const LARGEST_REPLY = 1500 - 28;

/** The address that the client takes for the server: a relay may ask for its own (RFC 5107 §4). */
export function serverIdOf({ message, local }: Arrival): Ipv4 {
  return relayOf(message)?.serverOverride ?? local;
}

/**
 * An address of the client's network: what the relay says of the link (RFC 3527), else what the client selects (RFC 3011), else
 * the relay's address, else the client's own when it renews, else the network that the message came by.
 */
export function linkOf({ message, local }: Arrival): Ipv4 {
  const selected = message.options.get(OPTION.subnetSelection);
  return (
    relayOf(message)?.linkSelection ??
    (selected && tolerant(() => addresses.decodeOne(selected))) ??
    (message.giaddr || message.ciaddr || local)
  );
}

/** Identifiers of ports beyond this many bytes are kept by their hash. */
const LONGEST_PORT = 32;

/** The relay that the message came through, and which of its ports it names (RFC 3046 §3.1, §3.2); undefined: it came by our own link. */
export function viaOf({ message }: Pick<Arrival, "message">): Via | undefined {
  if (message.giaddr === ANY) return undefined;
  const { circuit, remote } = relayOf(message) ?? {};
  return {
    giaddr: message.giaddr,
    ...(circuit?.length && { circuit: portText(circuit) }),
    ...(remote?.length && { remote: portText(remote) }),
  };
}

function portText(bytes: Uint8Array): string {
  const kept = bytes.length <= LONGEST_PORT ? bytes : createHash("sha256").update(bytes).digest();
  return Buffer.from(kept).toString("hex");
}

/** RFC 2131 §4.1: through the relay, else straight to an address the client already has, else to everybody, since no client receives packets to an address that it does not have yet. */
export function replyAddress({ message }: Arrival): Endpoint {
  if (message.giaddr !== ANY) return { address: message.giaddr, port: SERVER_PORT };
  if (message.ciaddr !== ANY) return { address: message.ciaddr, port: CLIENT_PORT };
  return { address: BROADCAST, port: CLIENT_PORT };
}

/** A NAK reaches a client whose address is wrong: by broadcast, also behind a relay (RFC 2131 §4.3.2). */
export function nakAddress({ message }: Arrival): Endpoint {
  if (message.giaddr !== ANY) return { address: message.giaddr, port: SERVER_PORT };
  return { address: BROADCAST, port: CLIENT_PORT };
}

/** The message with the broadcast flag (RFC 2131 §2). */
export function withBroadcast(message: Message): Message {
  return { ...message, flags: message.flags | BROADCAST_FLAG };
}

/** The largest reply the client takes: option 57 is for the datagram, so headers are taken off. */
export function limitOf({ options }: Message): number {
  const bytes = options.get(OPTION.longestMessage);
  const datagram = bytes === undefined ? undefined : tolerant(() => numbers.decodeU16(bytes));
  if (datagram === undefined) return ORDINARY_LIMIT;
  return Math.min(LARGEST_REPLY, Math.max(ORDINARY_LIMIT, datagram - 28));
}

function relayOf({ options }: Message): relayAgent.RelayAgent | undefined {
  const bytes = options.get(OPTION.relayAgent);
  return bytes === undefined ? undefined : tolerant(() => relayAgent.decode(bytes));
}
