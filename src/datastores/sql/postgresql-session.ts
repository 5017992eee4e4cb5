import { Fault } from "@slipway/base";
import pg from "pg";
import type { DatastoreOptions } from "../datastore.ts";
import { type Endpoint, parseEndpoints } from "../endpoint.ts";
import { firstReached, networkFault, PATIENCE_MS, within } from "../reach.ts";
import { socketTo, tlsOptions } from "./socket.ts";

export type Row = Record<string, unknown>;

/** Making and dropping a database copies and removes files. */
const SLOW = 3;
/** A farewell that is not answered is not waited for. */
const FAREWELL_MS = 1_000;

/** One connection to a PostgreSQL database, its errors as faults. */
export class PostgresqlSession {
  readonly #client: pg.Client;
  readonly #options: DatastoreOptions;
  readonly #on: string;
  readonly #signal: AbortSignal;
  readonly #give: AbortController;

  constructor(
    client: pg.Client,
    options: DatastoreOptions,
    life: { on: string; signal: AbortSignal; give: AbortController },
  ) {
    this.#client = client;
    this.#options = options;
    this.#on = life.on;
    this.#signal = life.signal;
    this.#give = life.give;
  }

  /** The rows of a statement. `values` are `$1` and so on. */
  async query(text: string, values: unknown[] = []): Promise<Row[]> {
    const { clock, patienceMs = PATIENCE_MS } = this.#options;
    const limits = { clock, ms: SLOW * patienceMs, signal: this.#signal, on: this.#on, explain: postgresqlFault };
    return within(limits, async (signal) => {
      signal.addEventListener("abort", () => this.#give.abort(), { once: true });
      return (await this.#client.query(text, values)).rows as Row[];
    });
  }

  /** Whether the error of a statement has this SQLSTATE. */
  static is(error: unknown, ...states: string[]): boolean {
    const cause = (error as { cause?: { code?: string } }).cause;
    return cause?.code !== undefined && states.includes(cause.code);
  }
}

/** Does the work on a connection of its own to the first endpoint that is reached, and closes it. */
export async function withPostgresql<T>(
  options: DatastoreOptions,
  database: string,
  signal: AbortSignal,
  work: (session: PostgresqlSession) => Promise<T>,
): Promise<T> {
  const endpoints = parseEndpoints("PostgreSQL", options.endpoints);
  const { client, life } = await firstReached(endpoints, (endpoint) => dial(options, endpoint, database, signal));
  try {
    return await work(new PostgresqlSession(client, options, life));
  } finally {
    const timer = options.clock.after(FAREWELL_MS, () => life.give.abort());
    if (!life.give.signal.aborted) await client.end().catch(() => {});
    timer.cancel();
    life.give.abort();
  }
}

async function dial(options: DatastoreOptions, endpoint: Endpoint, database: string, signal: AbortSignal) {
  const { clock, patienceMs: ms = PATIENCE_MS, tls, basicAuth } = options;
  const on = `PostgreSQL ${endpoint.text}`;
  const give = new AbortController();
  const socket = socketTo(endpoint, give.signal);
  const client = new pg.Client({
    ...{ host: endpoint.host, port: endpoint.port, database, stream: () => socket },
    ...(basicAuth && { user: basicAuth.username, password: basicAuth.password }),
    ssl: tls === undefined ? false : { ...tlsOptions(tls), host: endpoint.host },
    application_name: "slipway",
  });
  // A connection that breaks while nobody asks ends the next statement.
  client.on("error", () => {});
  try {
    await within({ clock, ms, signal, on, explain: postgresqlFault }, async (limit) => {
      limit.addEventListener("abort", () => give.abort(), { once: true });
      await client.connect();
    });
  } catch (error) {
    give.abort();
    throw error;
  }
  return { client, life: { on, signal, give } };
}

/** SQLSTATEs: https://www.postgresql.org/docs/current/errcodes-appendix.html */
function postgresqlFault(error: unknown, on: string): unknown {
  if (error instanceof Fault) return error;
  const network = networkFault(error, on);
  if (network !== undefined) return network;
  const { code = "", message: text = "" } = error as { code?: string; message?: string };
  const fault = (kind: Fault["code"], remedy?: string): Fault =>
    new Fault(kind, on, text, { cause: error, ...(remedy !== undefined && { remedy }) });
  if (/^28/.test(code))
    return fault("BadCredentials", "correct spec.basicAuth of the DataStore, or the server's pg_hba.conf");
  if (code === "42501")
    return fault("BadCredentials", "give the DataStore a user with CREATEROLE and CREATEDB, or a superuser");
  if (/^53[12]00$/.test(code)) return fault("NoCapacity", "free some space on the server; it goes on by itself");
  if (code === "53300") return fault("Unavailable", "raise the server's max_connections");
  if (/^(57P0|08)/.test(code) || /Connection terminated|is not queryable/.test(text))
    return fault("Unavailable", "it is tried again");
  if (/does not support SSL/.test(text))
    return fault("Invalid", "remove spec.tlsConfig, or switch TLS on at the server");
  if (/password must be a string|no password/i.test(text))
    return fault("BadCredentials", "set spec.basicAuth of the DataStore");
  return fault("Internal");
}
