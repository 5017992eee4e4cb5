import { createSocket, type Socket } from "node:dgram";
import type { Endpoint } from "./arrival.ts";
import { ANY, formatIpv4, type Ipv4, ipv4OfKernel } from "./wire/ipv4.ts";

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

/** Binds one socket of the operating system. Rejects when it can't be had. */
export type Bind = (address: string, port: number) => Promise<Socket>;

/**
 * A burst of clients, as after a power failure, waits here rather than being lost (some 2,000 messages; the kernel may grant less). With more, an
 * overloaded server would answer only clients that have given up.
 */
const RECEIVE_BYTES = 1024 * 1024;

/**
 * A pair of sockets. One is bound to the address itself: what it sends, broadcasts included, leaves by the interface that has the
 * address. Linux gives such a socket no broadcasts, so another one listens at all addresses; whose broadcasts it receives is up
 * to `bind`.
 */
export function pairOf(bind: Bind): OpenSocket {
  return async (address, port, receive) => {
    const own = await bind(formatIpv4(address), port);
    const sockets = [own];
    try {
      if (address !== ANY) sockets.push(await bind(formatIpv4(ANY), own.address().port));
    } catch (error) {
      await closeAll(sockets);
      throw error;
    }
    for (const socket of sockets) receiveFrom(socket, receive);
    return { port: own.address().port, send: (bytes, to) => sendBy(own, bytes, to), close: () => closeAll(sockets) };
  };
}

/** Sockets that receive the broadcasts of every interface, without its name. */
export const openDatagramSocket: OpenSocket = pairOf((address, port) => {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  socket.once("error", (error) => {
    socket.close();
    reject(error);
  });
  socket.bind({ address, port, exclusive: true }, () => {
    socket.removeAllListeners("error");
    resolve(socket);
  });
  return promise;
});

/** Resolves when the kernel has taken the datagram, rejects when it refuses it. */
export function sendBy(socket: Socket, bytes: Uint8Array, to: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(bytes, to.port, formatIpv4(to.address), (error) => (error === null ? resolve() : reject(error)));
  });
}

/** Hands on what a bound socket receives, until the returned function is called. */
export function receiveFrom(socket: Socket, receive: Receive): () => void {
  const onMessage = (bytes: Uint8Array, from: { address: string; port: number }): void =>
    receive(bytes, { address: ipv4OfKernel(from.address), port: from.port });
  // An error of a socket in use is that of one packet; the next one is received all the same.
  const onError = (): void => {};
  socket.on("message", onMessage).on("error", onError);
  socket.setBroadcast(true);
  socket.setRecvBufferSize(RECEIVE_BYTES);
  return () => void socket.off("message", onMessage).off("error", onError);
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
}
