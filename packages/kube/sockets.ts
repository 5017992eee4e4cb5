import { createSecureContext } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { Agent } from "undici";
import type { Certificates } from "./certificate-files.ts";
import type { Connection } from "./connection.ts";

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
/** The caller's deadline comes first; this ends requests without a waiting caller. */
const HEADERS_MS = 90_000;

/** Sockets of one time, which show the same certificates. */
export interface Generation {
  /** So many at most; others wait. */
  requests: Agent;
  /** One for each. */
  watches: Agent;
  certificates: Certificates;
}

/** The sockets to one server, generation after generation: what runs on those of an earlier one may end. */
export class Sockets {
  readonly #connection: Connection;
  readonly #limit: number;
  readonly #open = new Set<Agent>();
  #current: Generation;

  constructor(connection: Connection, limit: number) {
    this.#connection = connection;
    this.#limit = limit;
    this.#current = this.#begin(connection);
  }

  get current(): Generation {
    return this.#current;
  }

  /** Those that show these certificates. */
  showing(certificates: Certificates): Generation {
    if (!isDeepStrictEqual(pems(certificates), pems(this.#current.certificates))) this.#follow(certificates);
    return this.#current;
  }

  /** No other request is put on sockets of this generation. */
  leave(generation: Generation): void {
    if (generation === this.#current) this.#follow(generation.certificates);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((agent) => agent.destroy()));
  }

  #follow(certificates: Certificates): void {
    const { requests, watches } = this.#current;
    for (const agent of [requests, watches]) {
      const gone = (): boolean => this.#open.delete(agent);
      agent.close().then(gone, gone);
    }
    this.#current = this.#begin(certificates);
  }

  #begin(certificates: Certificates): Generation {
    const shown = shownBy(certificates);
    const requests = agentOf(this.#connection, shown, this.#limit);
    const watches = agentOf(this.#connection, shown, undefined);
    for (const agent of [requests, watches]) this.#open.add(agent);
    return { requests, watches, certificates };
  }
}

function pems({ ca, cert, key }: Certificates): (string | undefined)[] {
  return [ca, cert, key];
}

/** What sockets show, read once for all of them: each socket would read it again, for longer than its handshake takes. */
function shownBy({ ca, cert, key }: Certificates): object {
  const options = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  try {
    return Object.keys(options).length === 0 ? {} : { secureContext: createSecureContext(options) };
  } catch {
    // Each socket fails by them then, and its request says so.
    return options;
  }
}

function agentOf(connection: Connection, shown: object, connections: number | undefined): Agent {
  const { serverName, insecure } = connection;
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    // Streams may be silent for long; their reader has a watchdog.
    bodyTimeout: connections === undefined ? 0 : HEADERS_MS,
    ...(connections === undefined ? {} : { connections }),
    allowH2: false,
    connect: {
      timeout: CONNECT_MS,
      rejectUnauthorized: insecure !== true,
      ...shown,
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
  });
}
