import { createSocket, type Socket } from "node:dgram";
import type { Endpoint } from "./arrival.ts";
import { ANY, formatIpv4, type Ipv4, parseIpv4 } from "./wire/ipv4.ts";

/** UDP at one local address. */
export interface DatagramSocket {
  /** The local port: the one that was asked for, or a free one for 0. */
  readonly port: number;
  send(bytes: Uint8Array, to: Endpoint): Promise<void>;
  close(): Promise<void>;
}

export type Receive = (bytes: Uint8Array, from: Endpoint) => void;

/** Opens UDP at `address` and `port`; `receive` must not throw. Rejects when the port is taken or not allowed. */
export type OpenSocket = (address: Ipv4, port: number, receive: Receive) => Promise<DatagramSocket>;

/**
 * Sockets of the operating system. One is bound to the address itself: what it sends, broadcasts included, leaves by the interface
 * that has the address. Linux gives such a socket no broadcasts, so another one listens at all addresses; it hears the broadcasts
 * of every interface and is not told which.
 */
export const openDatagramSocket: OpenSocket = async (address, port, receive) => {
  const own = await bound(address, port, receive);
  const sockets = [own];
  try {
    if (address !== ANY) sockets.push(await bound(ANY, own.address().port, receive));
  } catch (error) {
    await closeAll(sockets);
    throw error;
  }
  return {
    port: own.address().port,
    send: (bytes, to) =>
      new Promise((resolve, reject) => {
        own.send(bytes, to.port, formatIpv4(to.address), (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => closeAll(sockets),
  };
};

function bound(address: Ipv4, port: number, receive: Receive): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = createSocket({ type: "udp4", reuseAddr: true, recvBufferSize: 4 * 1024 * 1024 });
  const failed = (error: Error): void => {
    socket.close();
    reject(error);
  };
  socket.once("error", failed);
  socket.bind({ address: formatIpv4(address), port, exclusive: true }, () => {
    socket.off("error", failed);
    // An error of a socket in use is that of one packet; the next one is heard all the same.
    socket.on("error", () => {});
    socket.on("message", (bytes, from) => receive(bytes, { address: parseIpv4(from.address), port: from.port }));
    socket.setBroadcast(true);
    resolve(socket);
  });
  return promise;
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
}
