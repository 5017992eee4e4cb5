import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { Fault, isFault } from "@slipway/base";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { openOnDevice } from "../sockets/on-device.ts";

/** One end of an exchange of datagrams. */
export interface Peer {
  address: string;
  port: number;
}

/** A bound socket. */
export interface Datagrams {
  readonly port: number;
  /** Never throws: what can't be sent is lost, as it may be on any network. */
  send(bytes: Uint8Array, to: Peer): void;
  close(): Promise<void>;
}

/** Binds a socket; port 0 is any free one. `receive` gets every datagram and must not throw. Rejects with a `Fault` when it can't be bound. */
export type OpenDatagrams = (bind: Peer, receive: (bytes: Uint8Array, from: Peer) => void) => Promise<Datagrams>;

/** UDP sockets of the system. */
export const udp: OpenDatagrams = async (bind, receive) => {
  const socket = createSocket({
    type: isIPv6(bind.address) ? "udp6" : "udp4",
    // Peers are addresses already: a look-up would put every packet off to a later turn.
    lookup: (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4),
  });
  await bound(socket, bind);
  return { ...over(socket, receive), close: () => closed(socket) };
};

/**
 * As `udp`, for one network interface: what systemd has bound is used, what is bound here receives from no other interface, where perl can
 * see to it. Sockets at any free port, which live for one transfer, and those of IPv6 are ordinary ones.
 */
export function udpOn(device: string, inherited?: InheritedSockets): OpenDatagrams {
  return async (bind, receive) => {
    if (bind.port === 0 || isIPv6(bind.address)) return udp(bind, receive);
    const given = inherited?.find(bind.port, device);
    // It stays open, for the next start of the service.
    if (given !== undefined) return over(given, receive);
    try {
      const socket = await openOnDevice({ device, ...bind });
      return { ...over(socket, receive), close: () => closed(socket) };
    } catch (error) {
      // The interface's own address keeps all but the neighbours' most deliberate packets apart.
      if (isFault(error, "MissingInput")) return udp(bind, receive);
      throw error;
    }
  };
}

/** A bound socket; `close` stops listening and leaves it open. */
function over(socket: Socket, receive: (bytes: Uint8Array, from: Peer) => void): Datagrams {
  // What arrives as an error here (an ICMP answer, a full queue) concerns one packet, not the socket.
  const onError = (): void => {};
  const onMessage = (bytes: Uint8Array, from: Peer): void => {
    // Nobody can be answered at port 0.
    if (from.port !== 0) receive(bytes, from);
  };
  socket.on("error", onError).on("message", onMessage);
  return {
    port: socket.address().port,
    // Without a callback a refusal of the kernel's is passed over, and nothing is queued to say that all went well.
    send: (bytes, to) => socket.send(bytes, to.port, to.address),
    close: async () => void socket.off("error", onError).off("message", onMessage),
  };
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}

function bound(socket: Socket, { address, port }: Peer): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", (cause) => {
      socket.close();
      const remedy = "stop what listens there, or run it where low ports may be bound (CAP_NET_BIND_SERVICE)";
      reject(new Fault("Unavailable", `udp ${address}:${port}`, cause.message, { cause, remedy }));
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners("error");
      resolve();
    });
  });
}
