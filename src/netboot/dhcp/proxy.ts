import { type Arrival, BOOT_SERVER_PORT, serverIdOf } from "./arrival.ts";
import { type BootFiles, bootFileFor } from "./boot.ts";
import type { Client } from "./client.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import { MESSAGE } from "./options/message-type.ts";
import { replyTo } from "./reply.ts";
import type { Reserved } from "./reservations.ts";
import { tolerant } from "./wire/malformed.ts";
import type { Message } from "./wire/message.ts";

/** A client, and what it may be given to boot. */
export interface Booting {
  client: Client;
  reserved: Reserved | undefined;
  boot: BootFiles;
}

/**
 * What a proxy says (PXE 2.1 §2.2.1): to firmware and iPXE, what to boot and from where; never an address, never a NAK, and
 * nothing to other clients. On port 4011 the same holds in every mode.
 */
export function proxyAnswer(arrival: Arrival, type: number, { client, reserved, boot }: Booting): Message | undefined {
  const answer = answerTo(arrival, type);
  if (answer === undefined || client.loader === undefined) return undefined;
  if (bootFileFor(client, boot, reserved) === undefined && !client.raspberryPi) return undefined;
  // At port 4011 the client has come for the file: it is not sent there once more.
  const offered: BootFiles = arrival.port === BOOT_SERVER_PORT ? { ...boot, uefiDiscovery: "given" } : boot;
  return replyTo({
    to: arrival.message,
    client,
    type: answer,
    server: serverIdOf(arrival),
    local: arrival.local,
    reserved,
    boot: offered,
  });
}

function answerTo(arrival: Arrival, type: number): (typeof MESSAGE)["offer" | "ack"] | undefined {
  const named = arrival.message.options.get(OPTION.serverIdentifier);
  const server = named && tolerant(() => addresses.decodeOne(named));
  const us = server === arrival.local || server === serverIdOf(arrival);
  if (arrival.port === BOOT_SERVER_PORT) {
    const asks = type === MESSAGE.request || type === MESSAGE.discover || type === MESSAGE.inform;
    return asks && (server === undefined || us) ? MESSAGE.ack : undefined;
  }
  if (type === MESSAGE.discover) return MESSAGE.offer;
  if (type === MESSAGE.inform) return MESSAGE.ack;
  // A request that names no server, or another one, is the other server's to answer.
  return type === MESSAGE.request && us ? MESSAGE.ack : undefined;
}
