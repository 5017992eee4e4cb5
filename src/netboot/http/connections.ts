import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@slipway/base";
import { type Crowding, slowest } from "./crowding.ts";

export interface ConnectionLimits {
  /** In all. */
  most: number;
  /** Of one address, of clients that have not shown which host they are. */
  perAddress: number;
  /** Of one host, wherever it comes from. */
  perHost: number;
}

/** Of many, so many that have waited longest are compared. */
const MOST_COMPARED = 256;

class Connection implements Crowding {
  readonly socket: Socket;
  /** A socket that is closed has forgotten its client. */
  readonly key: string;
  readonly since: number;
  /** `address …`, or `host …`. */
  party: string;

  constructor(socket: Socket, since: number, party: string) {
    this.socket = socket;
    this.key = keyOf(socket);
    this.since = since;
    this.party = party;
  }

  get moved(): number {
    return this.socket.bytesRead + this.socket.bytesWritten;
  }
}

/**
 * The connections to a server, counted by address until their client has shown which host it is, then by host: hosts behind one address do not
 * shut each other out. Where there are too many, the slowest gives way to the new one; where all are new, that one is closed.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #clock: Pick<Clock, "monotonic">;
  /** By the client's address and port; a TLS connection has two sockets and one of these. */
  readonly #all = new Map<string, Connection>();
  /** By address or host. One that has no connections is not here. */
  readonly #parties = new Map<string, Set<Connection>>();
  /** Those of unknown clients, the oldest first. */
  readonly #unknown = new Set<Connection>();

  constructor(limits: ConnectionLimits, clock: Pick<Clock, "monotonic">) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Watches over a server's connections from now on. */
  readonly guard = (server: Server): void => {
    server.on("connection", (socket: Socket) => this.#came(socket));
  };

  /** Notes that a request is the host's; its connection counts as that one's from now on. */
  isOf(request: IncomingMessage, host: string): void {
    const connection = this.#all.get(keyOf(request.socket));
    const party = `host ${host}`;
    if (connection === undefined || connection.party === party) return;
    this.#leave(connection);
    const others = this.#parties.get(party) ?? new Set();
    if (others.size >= this.#limits.perHost) this.#end(slowest(others, this.#clock.monotonic()) ?? [...others][0]!);
    connection.party = party;
    this.#join(connection);
  }

  #came(socket: Socket): void {
    const { most, perAddress } = this.#limits;
    const now = this.#clock.monotonic();
    const connection = new Connection(socket, now, `address ${socket.remoteAddress}`);
    const own = this.#parties.get(connection.party) ?? new Set();
    const isFull = this.#all.size >= most;
    if (own.size >= perAddress || isFull) {
      const crowd = own.size >= perAddress ? own : this.#unknown.values().take(MOST_COMPARED);
      const leaving = slowest(crowd, now);
      if (leaving === undefined) return void socket.destroy();
      this.#end(leaving);
    }
    this.#all.set(connection.key, connection);
    this.#unknown.add(connection);
    this.#join(connection);
    socket.once("close", () => this.#gone(connection));
  }

  #end(connection: Connection): void {
    this.#gone(connection);
    connection.socket.destroy();
  }

  #join(connection: Connection): void {
    const party = this.#parties.get(connection.party) ?? new Set();
    party.add(connection);
    this.#parties.set(connection.party, party);
  }

  #leave(connection: Connection): void {
    const party = this.#parties.get(connection.party);
    party?.delete(connection);
    if (party?.size === 0) this.#parties.delete(connection.party);
    this.#unknown.delete(connection);
  }

  #gone(connection: Connection): void {
    this.#leave(connection);
    if (this.#all.get(connection.key) === connection) this.#all.delete(connection.key);
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
