/**
 * Sends one DHCP message and prints every answer that arrives within a second as a line of JSON: what a machine between several
 * servers sees. Takes the message's type and what it says (`testing.ts`) as JSON, and the port.
 */
import { createSocket } from "node:dgram";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { OPTION } from "../../src/netboot/dhcp/options/codes.ts";
import type { MESSAGE } from "../../src/netboot/dhcp/options/message-type.ts";
import * as text from "../../src/netboot/dhcp/options/text.ts";
import { type Said, say } from "../../src/netboot/dhcp/testing.ts";
import { encode } from "../../src/netboot/dhcp/wire/encode.ts";
import { formatIpv4 } from "../../src/netboot/dhcp/wire/ipv4.ts";
import { decode } from "../../src/netboot/dhcp/wire/message.ts";

export interface Question {
  type: keyof typeof MESSAGE;
  said: Said;
  to: { address: string; port: number };
}

/** One answer. */
export interface Answered {
  from: string;
  type: number | undefined;
  yiaddr: string;
  file: string;
  loader: string | undefined;
}

const LISTEN_MS = 1_500;

const { type, said, to } = JSON.parse(process.argv[2]!) as Question;
const socket = createSocket({ type: "udp4", reuseAddr: true });
socket.on("message", (bytes, from) => {
  const message = decode(bytes);
  const loader = message.options.get(OPTION.vendorClass);
  const answer: Answered = {
    from: `${from.address}:${from.port}`,
    type: message.options.get(OPTION.messageType)?.[0],
    yiaddr: formatIpv4(message.yiaddr),
    file: message.file,
    loader: loader && text.decode(loader),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
await new Promise<void>((resolve) => socket.bind(68, resolve));
socket.setBroadcast(true);
await promisify<Uint8Array, number, string>(socket.send.bind(socket))(
  encode(say(type, said)).bytes,
  to.port,
  to.address,
);
await setTimeout(LISTEN_MS);
socket.close();
