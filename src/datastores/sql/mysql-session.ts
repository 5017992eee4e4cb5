import { Fault } from "@slipway/base";
import mysql from "mysql2";
import type { DatastoreOptions } from "../datastore.ts";
import { type Endpoint, parseEndpoints } from "../endpoint.ts";
import { firstReached, networkFault, PATIENCE_MS, within } from "../reach.ts";
import { socketTo, tlsOptions } from "./socket.ts";

export type Row = Record<string, unknown>;

interface Life {
  on: string;
  signal: AbortSignal;
  give: AbortController;
}

/** Dropping a database removes files. */
const SLOW = 3;
/** A farewell that is not answered is not waited for. */
const FAREWELL_MS = 1_000;

/** One connection to a MySQL or MariaDB server, its errors as faults. */
export class MysqlSession {
  readonly #connection: mysql.Connection;
  readonly #options: DatastoreOptions;
  readonly #life: Life;

  constructor(connection: mysql.Connection, options: DatastoreOptions, life: Life) {
    this.#connection = connection;
    this.#options = options;
    this.#life = life;
  }

  /** The rows of a statement. Each `?` is a value, quoted on our side; a list of lists is rows. */
  async query(text: string, values: unknown[] = []): Promise<Row[]> {
    const { signal, on, give } = this.#life;
    const { clock, patienceMs = PATIENCE_MS } = this.#options;
    return within({ clock, ms: SLOW * patienceMs, signal, on, explain: mysqlFault }, async (limit) => {
      limit.addEventListener("abort", () => give.abort(), { once: true });
      const [rows] = await this.#connection.promise().query(text, values);
      return Array.isArray(rows) ? (rows as Row[]) : [];
    });
  }
}

/** Does the work on a connection of its own to the first endpoint that is reached, and closes it. */
export async function withMysql<T>(
  options: DatastoreOptions,
  signal: AbortSignal,
  work: (session: MysqlSession) => Promise<T>,
): Promise<T> {
  const endpoints = parseEndpoints("MySQL", options.endpoints);
  const { connection, life } = await firstReached(endpoints, (endpoint) => dial(options, endpoint, signal));
  try {
    const session = new MysqlSession(connection, options, life);
    // Values are quoted by this mode's rules, and zero stays zero in a column that counts by itself.
    await session.query("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'");
    return await work(session);
  } finally {
    const timer = options.clock.after(FAREWELL_MS, () => life.give.abort());
    if (!life.give.signal.aborted) await new Promise<void>((ended) => connection.end(() => ended()));
    timer.cancel();
    life.give.abort();
  }
}

async function dial(
  options: DatastoreOptions,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<{ connection: mysql.Connection; life: Life }> {
  const { clock, patienceMs: ms = PATIENCE_MS, tls, basicAuth } = options;
  const on = `MySQL ${endpoint.text}`;
  const give = new AbortController();
  const socket = socketTo(endpoint, give.signal);
  try {
    const connection = await within({ clock, ms, signal, on, explain: mysqlFault }, (limit) => {
      limit.addEventListener("abort", () => give.abort(), { once: true });
      return new Promise<mysql.Connection>((resolve, reject) => {
        const made = mysql.createConnection({
          ...{ host: endpoint.host, port: endpoint.port, stream: () => socket.connect(endpoint.port, endpoint.host) },
          ...(basicAuth && { user: basicAuth.username, password: basicAuth.password }),
          ...(tls && { ssl: { ...(tlsOptions(tls) as mysql.SslOptions), verifyIdentity: true } }),
          ...{
            charset: "utf8mb4",
            supportBigNumbers: true,
            bigNumberStrings: true,
            dateStrings: true,
            jsonStrings: true,
          },
        });
        // A connection that breaks while nobody asks ends the next statement.
        made.on("error", reject);
        made.connect((error) => (error ? reject(withTlsCode(error, made)) : resolve(made)));
      });
    });
    return { connection, life: { on, signal, give } };
  } catch (error) {
    give.abort();
    throw error;
  }
}

/** The driver gives every error of TLS one code; Node's own is made again from what the error and the socket still hold. */
function withTlsCode(error: Error & { code?: string; reason?: string }, connection: mysql.Connection): Error {
  if (error.code !== "HANDSHAKE_SSL_ERROR") return error;
  const { stream } = connection as unknown as { stream: { authorizationError?: string } };
  const alert = error.reason === undefined ? undefined : `ERR_SSL_${error.reason.toUpperCase().replaceAll(" ", "_")}`;
  return Object.assign(error, { code: stream.authorizationError ?? alert ?? "ECONNRESET" });
}

const ADVICE: Record<string, [Fault["code"], string]> = {
  ER_ACCESS_DENIED_ERROR: ["BadCredentials", "correct spec.basicAuth of the DataStore"],
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: ["BadCredentials", "set spec.basicAuth of the DataStore"],
  ER_HOST_NOT_PRIVILEGED: ["BadCredentials", "let the user of spec.basicAuth connect from this machine"],
  ER_NOT_SUPPORTED_AUTH_MODE: [
    "BadCredentials",
    "give the user of spec.basicAuth a password that can be asked for here",
  ],
  ER_DBACCESS_DENIED_ERROR: ["BadCredentials", "grant the user of spec.basicAuth ALL PRIVILEGES WITH GRANT OPTION"],
  ER_TABLEACCESS_DENIED_ERROR: ["BadCredentials", "grant the user of spec.basicAuth ALL PRIVILEGES WITH GRANT OPTION"],
  ER_SPECIFIC_ACCESS_DENIED_ERROR: [
    "BadCredentials",
    "grant the user of spec.basicAuth ALL PRIVILEGES WITH GRANT OPTION",
  ],
  ER_SECURE_TRANSPORT_REQUIRED: ["Invalid", "set spec.tlsConfig of the DataStore"],
  HANDSHAKE_NO_SSL_SUPPORT: ["Invalid", "remove spec.tlsConfig, or switch TLS on at the server"],
  ER_CON_COUNT_ERROR: ["Unavailable", "raise the server's max_connections"],
  ER_SERVER_SHUTDOWN: ["Unavailable", "it is tried again"],
  PROTOCOL_CONNECTION_LOST: ["Unavailable", "it is tried again"],
  ER_DISK_FULL: ["NoCapacity", "free some space on the server; it goes on by itself"],
  ER_RECORD_FILE_FULL: ["NoCapacity", "free some space on the server; it goes on by itself"],
  ER_ENGINE_OUT_OF_MEMORY: ["NoCapacity", "give the server more memory"],
  ER_OPTION_PREVENTS_STATEMENT: [
    "Unavailable",
    "the server is read-only: name the one that takes writes first in spec.endpoints",
  ],
  ER_WRONG_STRING_LENGTH: ["Invalid", "set a shorter dataStoreUsername: MySQL takes 32 characters"],
  ER_NOT_VALID_PASSWORD: ["Invalid", "use a password that the server's rules allow"],
};

function mysqlFault(error: unknown, on: string): unknown {
  if (error instanceof Fault) return error;
  const { code = "", message: text = "", errno } = error as { code?: string; message?: string; errno?: number };
  // MariaDB's own, for which the driver has no name: a user may do this only with GRANT OPTION.
  const [kind, remedy] = ADVICE[errno === 1227 ? "ER_SPECIFIC_ACCESS_DENIED_ERROR" : code] ?? [];
  if (kind !== undefined) return new Fault(kind, on, text, { remedy: remedy!, cause: error });
  // The driver's own word on a connection that broke while nobody asked; it has no code.
  if (/in closed state/.test(text))
    return new Fault("Unavailable", on, text, { remedy: "it is tried again", cause: error });
  return networkFault(error, on) ?? new Fault("Internal", on, text, { cause: error });
}
