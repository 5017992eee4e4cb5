import type { Clock, Random } from "@slipway/base";
import { encode } from "../../netboot/dhcp/wire/encode.ts";
import { formatIpv4 } from "../../netboot/dhcp/wire/ipv4.ts";
import { BROADCAST_FLAG, decode, type Message, REPLY, REQUEST } from "../../netboot/dhcp/wire/message.ts";
import { openOnDevice } from "../../netboot/sockets/on-device.ts";

const [CLIENT_PORT, SERVER_PORT] = [68, 67];
const [MESSAGE_TYPE, SERVER_ID, DISCOVER, OFFER] = [53, 54, 1, 2];
const ETHERNET = 1;
const PATIENCE_MS = 4_000;

/**
 * Asks for an address on the interface, takes none, and resolves with the servers that offered one within four seconds. Needs the right to open
 * port 68. Rejects with a `Fault`.
 */
export async function dhcpServersOn(
  device: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<string[]> {
  const socket = await openOnDevice({ device, address: "0.0.0.0", port: CLIENT_PORT });
  const { bytes, xid } = discover(random);
  const found = new Set<string>();
  socket.on("message", (datagram) => {
    const server = offeredBy(datagram, xid);
    if (server !== undefined) found.add(server);
  });
  try {
    socket.setBroadcast(true);
    await new Promise<void>((resolve, reject) =>
      socket.send(bytes, SERVER_PORT, "255.255.255.255", (error) => (error ? reject(error) : resolve())),
    );
    await clock.sleep(PATIENCE_MS);
    return [...found].sort();
  } finally {
    socket.close();
  }
}

/** A DISCOVER of a machine that nobody knows, with an address of nobody's own (locally administered). */
export function discover(random: Random): { bytes: Uint8Array; xid: number } {
  const chaddr = Uint8Array.of(0x02, ...random.bytes(5));
  const xid = new DataView(Uint8Array.from(random.bytes(4)).buffer).getUint32(0);
  const zero = { hops: 0, secs: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0, sname: "", file: "" };
  const options = new Map([[MESSAGE_TYPE, Uint8Array.of(DISCOVER)]]);
  const message: Message = { op: REQUEST, htype: ETHERNET, xid, flags: BROADCAST_FLAG, chaddr, options, ...zero };
  return { bytes: encode(message).bytes, xid };
}

/** The server of an offer in answer to `xid`; undefined: the datagram is something else, or broken. */
export function offeredBy(datagram: Uint8Array, xid: number): string | undefined {
  try {
    const message = decode(datagram);
    const isOffer = message.options.get(MESSAGE_TYPE)?.[0] === OFFER;
    if (message.op !== REPLY || message.xid !== xid || !isOffer) return undefined;
    const id = message.options.get(SERVER_ID);
    return id?.length === 4 ? id.join(".") : formatIpv4(message.siaddr);
  } catch {
    return undefined;
  }
}
