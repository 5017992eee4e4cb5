/**
 * DHCP for machines that boot from the network: from a message and where it came from to the answer and where it goes. Leases are
 * durable before a client gets them. Needs a clock, leases, and, if there is one, a way to see whether an address is in use.
 * Knows no sockets (`udp.ts` has them), no Kubernetes, and shares nothing between clients but the leases.
 */
import type { Clock } from "@slipway/base";
import { AddressBook } from "./address-book.ts";
import {
  type Arrival,
  BOOT_SERVER_PORT,
  type Endpoint,
  limitOf,
  linkOf,
  nakAddress,
  replyAddress,
  serverIdOf,
  viaOf,
  withBroadcast,
} from "./arrival.ts";
import { checkBoot, type OwnBoot } from "./boot.ts";
import { type Client, clientOf } from "./client.ts";
import type { DhcpConfig } from "./config.ts";
import type { DhcpListener } from "./event.ts";
import { decide, type Expect, type InUse, type Verdict } from "./exchange.ts";
import type { LeaseTable } from "./leases/table.ts";
import { OPTION } from "./options/codes.ts";
import { MESSAGE, decode as typeOf } from "./options/message-type.ts";
import { type Booting, proxyAnswer } from "./proxy.ts";
import { replyTo } from "./reply.ts";
import { Reservations, type Reserved } from "./reservations.ts";
import { compileSubnets, inSubnet, type Subnet } from "./subnet.ts";
import { encode } from "./wire/encode.ts";
import { tolerant } from "./wire/malformed.ts";
import { REQUEST } from "./wire/message.ts";

export interface DhcpOptions {
  config: DhcpConfig;
  leases: LeaseTable;
  clock: Pick<Clock, "now">;
  reservations?: Reservations;
  /** What this client boots instead, as things stand now; what is reserved for it goes first. Must not throw. */
  ownBoot?: (client: Client) => OwnBoot | undefined;
  inUse?: InUse;
  expect?: Expect;
  notify?: DhcpListener;
}

/** A datagram to send. `leftOut`: options that the client's packet had no room for. */
export interface Answer {
  bytes: Uint8Array;
  to: Endpoint;
  leftOut: readonly number[];
}

/** Messages that went through more relays are going round in circles (RFC 1542 §4.1.1). */
const MOST_HOPS = 16;

/** It has to come back whole, and with more there would be no room for an answer (RFC 3046 §2.1 allows a relay no more either). */
const LONGEST_RELAY_AGENT = 255;

/** Decides what is answered to a DHCP message (RFC 2131), without sockets. */
export class DhcpServer {
  readonly #options: DhcpOptions;
  readonly #notify: DhcpListener;
  /** The last message of each client that is still being worked on: its answers keep the order of its questions. */
  readonly #working = new Map<string, Promise<unknown>>();
  #config: DhcpConfig;
  #subnets: readonly Subnet[];
  #reservations: Reservations;

  constructor(options: DhcpOptions) {
    this.#options = options;
    this.#notify = options.notify ?? (() => {});
    checkBoot(options.config.boot);
    this.#config = options.config;
    this.#subnets = compileSubnets(options.config.subnets);
    this.#reservations = options.reservations ?? new Reservations();
  }

  /** From the next message on, this holds; leases stay. Throws a `Fault`, and changes nothing, when the configuration is wrong. */
  configure(config: DhcpConfig, reservations: Reservations): void {
    checkBoot(config.boot);
    this.#subnets = compileSubnets(config.subnets);
    this.#config = config;
    this.#reservations = reservations;
  }

  /** The answer to a message, once it is durable; undefined: silence. Rejects when a lease could not be written. */
  async answer(arrival: Arrival): Promise<Answer | undefined> {
    const { message } = arrival;
    if (this.#config.mode === "off" || message.op !== REQUEST || message.hops > MOST_HOPS) return undefined;
    if ((message.options.get(OPTION.relayAgent)?.length ?? 0) > LONGEST_RELAY_AGENT) return undefined;
    const client = clientOf(message);
    const bytes = message.options.get(OPTION.messageType);
    const type = bytes === undefined ? undefined : tolerant(() => typeOf(bytes));
    if (client === undefined || type === undefined) return undefined;
    const via = viaOf(arrival);
    this.#notify({ is: "seen", client, ...(via && { via }) });

    if (arrival.port === BOOT_SERVER_PORT || this.#config.mode === "proxy") {
      const about = { client, reserved: this.#reserved(client), boot: this.#config.boot };
      const answer = proxyAnswer(arrival, type, about);
      const to = arrival.port === BOOT_SERVER_PORT ? arrival.from : replyAddress(arrival);
      return answer && { ...encode(answer, limitOf(message)), to };
    }
    return this.#inTurn(client.key, () => this.#exchange(arrival, type, client));
  }

  async #exchange(arrival: Arrival, type: number, client: Client): Promise<Answer | undefined> {
    const { message } = arrival;
    const reserved = this.#reserved(client);
    const link = linkOf(arrival);
    const subnet = this.#subnets.find((each) => inSubnet(each, link));
    if (subnet === undefined) return undefined;
    if (this.#config.mode === "reservations" && reserved?.address === undefined) return undefined;
    const { leases, inUse, expect } = this.#options;
    const exchange = {
      ...{ message, client, subnet, reserved },
      via: viaOf(arrival),
      us: [arrival.local, serverIdOf(arrival)],
      now: this.#options.clock.now(),
    };
    const book = new AddressBook({
      mode: this.#config.mode,
      reservations: this.#reservations,
      leases,
      us: exchange.us,
      via: exchange.via,
    });
    const verdict = await decide(type, exchange, { book, leases, inUse, expect, notify: this.#notify });
    return written(verdict, arrival, { client, reserved, subnet, boot: this.#config.boot });
  }

  #reserved(client: Client): Reserved | undefined {
    const reserved = this.#reservations.of(client.mac);
    const own = this.#options.ownBoot?.(client);
    if (own === undefined || client.mac === undefined) return reserved;
    return { mac: client.mac, address: undefined, ...own, ...reserved };
  }

  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#working.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#working.set(key, mine);
    const done = (): void => {
      if (this.#working.get(key) === mine) this.#working.delete(key);
    };
    mine.then(done, done);
    return mine;
  }
}

/** The verdict as a datagram. */
function written(verdict: Verdict, arrival: Arrival, about: Booting & { subnet: Subnet }): Answer | undefined {
  const { subnet, ...rest } = about;
  const base = { to: arrival.message, server: serverIdOf(arrival), local: arrival.local };
  const limit = limitOf(arrival.message);
  switch (verdict.say) {
    case "nothing":
      return undefined;
    case "nak": {
      const nak = replyTo({ ...base, client: about.client, type: MESSAGE.nak, because: verdict.because });
      return { ...encode(withBroadcast(nak), limit), to: nakAddress(arrival) };
    }
    case "offer":
    case "ack": {
      const { address: yiaddr, leaseMs } = verdict;
      const reply = replyTo({ ...base, ...rest, type: MESSAGE[verdict.say], yiaddr, leaseMs, network: subnet.options });
      return { ...encode(reply, limit), to: replyAddress(arrival) };
    }
  }
}
