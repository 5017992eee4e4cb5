import { type BootFiles, bootFileFor } from "./boot.ts";
import type { Client } from "./client.ts";
import * as addresses from "./options/addresses.ts";
import { OPTION } from "./options/codes.ts";
import * as ipxe from "./options/ipxe.ts";
import { MESSAGE, encode as typeOption } from "./options/message-type.ts";
import * as numbers from "./options/numbers.ts";
import * as pxe from "./options/pxe.ts";
import * as text from "./options/text.ts";
import type { Reserved } from "./reservations.ts";
import { formatIpv4, type Ipv4, parseIpv4 } from "./wire/ipv4.ts";
import { type Message, REPLY } from "./wire/message.ts";
import type { Options } from "./wire/options-area.ts";

/** The longest name that leaves the file field its closing zero; longer ones stand in option 67 alone. */
const LONGEST_FILE_FIELD = 127;

const BIOS = 0;

export interface Reply {
  to: Message;
  client: Client;
  type: (typeof MESSAGE)["offer" | "ack" | "nak"];
  /** Option 54. */
  server: Ipv4;
  /** Our own address, where the files are unless they are elsewhere. */
  local: Ipv4;
  yiaddr?: Ipv4;
  leaseMs?: number | undefined;
  /** The network's options; only those that the client asked for are sent. */
  network?: Options | undefined;
  reserved?: Reserved | undefined;
  /** Contains what to boot, if there is something. */
  boot?: BootFiles | undefined;
  /** Why not, for a NAK. */
  because?: string;
}

/**
 * Writes the answer to a message. Options are in the order in which a small packet keeps them. Echoed are the fields that RFC 2131
 * §4.3.1 names, and options 61 (RFC 6842), 82 (RFC 3046), 97 and 118 (RFC 3011) as they came.
 */
export function replyTo(reply: Reply): Message {
  const { to, type, server } = reply;
  const options: Options = new Map([
    [OPTION.messageType, typeOption(type)],
    [OPTION.serverIdentifier, addresses.encode([server])],
  ]);
  if (reply.leaseMs !== undefined) setLease(options, reply.leaseMs);
  for (const code of [OPTION.clientIdentifier, OPTION.subnetSelection, OPTION.relayAgent]) echo(options, to, code);
  const message: Message = {
    ...{ op: REPLY, htype: to.htype, hops: 0, xid: to.xid, secs: 0, flags: to.flags },
    ciaddr: type === MESSAGE.ack ? to.ciaddr : 0,
    yiaddr: reply.yiaddr ?? 0,
    siaddr: 0,
    giaddr: to.giaddr,
    chaddr: to.chaddr,
    sname: "",
    file: "",
    options,
  };
  if (reply.because !== undefined) options.set(OPTION.message, text.encode(reply.because));
  if (reply.boot !== undefined) setBoot(message, reply, reply.boot);
  if (reply.network !== undefined) setNetwork(options, reply, reply.network);
  return message;
}

function setLease(options: Options, leaseMs: number): void {
  const seconds = Math.floor(leaseMs / 1000);
  options.set(OPTION.leaseTime, numbers.encodeU32(seconds));
  options.set(OPTION.renewalTime, numbers.encodeU32(Math.floor(seconds / 2)));
  options.set(OPTION.rebindingTime, numbers.encodeU32(Math.floor((seconds * 7) / 8)));
}

/** What firmware needs, in option 55 or not: several kinds do not list what they depend on. */
function setBoot(message: Message, { to, client, local, reserved }: Reply, boot: BootFiles): void {
  const { options } = message;
  echo(options, to, OPTION.machineIdentifier);
  if (client.ipxe !== undefined) options.set(OPTION.ipxe, ipxe.encode({ noProxyWait: true }));
  const file = bootFileFor(client, boot, reserved);
  if (file === undefined && !client.raspberryPi) return;
  const files = boot.tftpServer === undefined ? local : parseIpv4(boot.tftpServer);
  message.siaddr = files;
  if (file !== undefined && file.length <= LONGEST_FILE_FIELD) message.file = file;
  if (client.loader !== undefined) options.set(OPTION.vendorClass, text.encode(client.loader));
  if (client.loader === "PXEClient" && !asksAgain(client, boot))
    options.set(
      OPTION.vendorSpecific,
      pxe.encode({
        discoveryControl: pxe.BOOT_FILE_GIVEN,
        ...(client.raspberryPi && { menu: pxe.RASPBERRY_PI_MENU }),
      }),
    );
  if (file !== undefined) options.set(OPTION.bootFile, text.encode(file));
  options.set(OPTION.bootServer, text.encode(formatIpv4(files)));
  if (wants(to)(OPTION.tftpServers)) options.set(OPTION.tftpServers, addresses.encode([files]));
}

function asksAgain({ architecture, ipxe: isIpxe }: Client, { uefiDiscovery }: BootFiles): boolean {
  return uefiDiscovery === "port4011" && architecture !== BIOS && isIpxe === undefined;
}

function setNetwork(options: Options, { to, reserved }: Reply, network: Options): void {
  const wanted = wants(to);
  for (const [code, data] of network) if (wanted(code)) options.set(code, data);
  if (reserved?.hostName !== undefined && wanted(OPTION.hostName))
    options.set(OPTION.hostName, text.encode(reserved.hostName));
}

/** Option 55; a client without one gets all options. */
function wants({ options }: Message): (code: number) => boolean {
  const list = options.get(OPTION.parameterList);
  return (code) => list === undefined || list.includes(code);
}

function echo(options: Options, { options: sent }: Message, code: number): void {
  const bytes = sent.get(code);
  if (bytes !== undefined) options.set(code, bytes);
}
