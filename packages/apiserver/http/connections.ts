import type { Server, Socket } from "node:net";

/** How many connections are held at one time. A stranger is a connection without valid credentials so far. */
export interface ConnectionLimits {
  all: number;
  perAddress: number;
  strangers: number;
  strangersPerAddress: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  all: 4096,
  perAddress: 2048,
  strangers: 512,
  strangersPerAddress: 256,
};

export interface Connections {
  /** The connection from this address and port has shown valid credentials. */
  recognize(address: string | undefined, port: number | undefined): void;
  /** Closes all of them. */
  destroy(): void;
}

/**
 * Bounds a server's connections. When there are too many strangers the oldest of them is closed, so a flood of strangers does not
 * keep out a client with credentials; beyond the other bounds new connections are closed at once.
 */
export function boundConnections(server: Server, limits: ConnectionLimits): Connections {
  const open = new Map<string, Held>();
  /** In the order in which they came. */
  const strangers = new Map<string, Held>();
  const addresses = new Map<string, Address>();

  const forget = ({ key, address }: Held): void => {
    if (!open.delete(key)) return;
    strangers.delete(key);
    const from = addresses.get(address)!;
    from.all--;
    from.strangers.delete(key);
    if (from.all === 0) addresses.delete(address);
  };
  const evict = (among: ReadonlyMap<string, Held>): boolean => {
    const [first] = among.values();
    if (first === undefined) return false;
    forget(first);
    first.socket.destroy();
    return true;
  };
  /** Whether there is room for one more from there, made if need be. */
  const hasRoom = (from: Address): boolean => {
    if (from.strangers.size >= limits.strangersPerAddress || from.all >= limits.perAddress)
      return evict(from.strangers);
    if (strangers.size >= limits.strangers || open.size >= limits.all) return evict(strangers);
    return true;
  };
  server.on("connection", (socket: Socket) => {
    const { remoteAddress: address = "", remotePort } = socket;
    const held = { key: keyOf(address, remotePort), address, socket };
    if (!hasRoom(addresses.get(address) ?? NOBODY)) return void socket.destroy();
    const from = addresses.get(address) ?? { all: 0, strangers: new Map() };
    addresses.set(address, from);
    from.all++;
    for (const map of [open, strangers, from.strangers]) map.set(held.key, held);
    socket.once("close", () => forget(held));
  });
  return {
    destroy() {
      for (const { socket } of open.values()) socket.destroy();
    },
    recognize(address = "", port) {
      const key = keyOf(address, port);
      if (strangers.delete(key)) addresses.get(address)?.strangers.delete(key);
    },
  };
}

interface Held {
  key: string;
  address: string;
  socket: Socket;
}

interface Address {
  all: number;
  strangers: Map<string, Held>;
}

const NOBODY: Address = { all: 0, strangers: new Map() };

function keyOf(address: string, port: number | undefined): string {
  return `${address} ${port}`;
}
