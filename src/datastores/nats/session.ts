import { Fault } from "@slipway/base";
import { connect, type NatsConnection, type TlsOptions } from "nats";
import type { DatastoreOptions } from "../datastore.ts";
import { type Endpoint, parseEndpoints } from "../endpoint.ts";
import { firstReached, networkFault, PATIENCE_MS, within } from "../reach.ts";

/** What JetStream answers: an object, with `error` where it refuses. */
export interface Answer {
  error?: { code: number; err_code?: number; description?: string };
  [field: string]: unknown;
}

const API = "$JS.API.";
/** Numbers of refusals: https://github.com/nats-io/nats-server/blob/main/server/errors.json */
const STREAM_NOT_FOUND = 10059;
const NOT_ENABLED = new Set([10076, 10039, 10035]);
const TOO_MANY_STREAMS = new Set([10027, 10026]);
const FULL = new Set([10047, 10023, 10002, 10028]);

/** One connection to a NATS server, and JetStream's API over it (https://docs.nats.io/reference/reference-protocols/nats_api_reference). */
export class NatsSession {
  readonly connection: NatsConnection;
  readonly #options: DatastoreOptions;
  readonly #on: string;
  readonly #signal: AbortSignal;

  constructor(connection: NatsConnection, options: DatastoreOptions, on: string, signal: AbortSignal) {
    this.connection = connection;
    this.#options = options;
    this.#on = on;
    this.#signal = signal;
  }

  /** Asks JetStream. Rejects with a `Fault` where it refuses, `NotFound` among them. */
  async api(subject: string, body: object = {}): Promise<Answer> {
    return this.answer(await this.request(API + subject, new TextEncoder().encode(JSON.stringify(body))));
  }

  /** The payload of whoever answers. */
  async request(subject: string, payload: Uint8Array): Promise<Uint8Array> {
    return this.wait(async () => (await this.connection.request(subject, payload, { timeout: this.#patience })).data);
  }

  /** Waits for something of the server, within its time. */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    const limits = { clock: this.#options.clock, ms: this.#patience, signal: this.#signal, on: this.#on };
    return within({ ...limits, explain: natsFault }, work);
  }

  /** Reads an answer of JetStream, and throws its refusal. */
  answer(payload: Uint8Array): Answer {
    const answer = JSON.parse(new TextDecoder().decode(payload)) as Answer;
    if (answer.error !== undefined) throw refusal(answer.error, this.#on);
    return answer;
  }

  get #patience(): number {
    return this.#options.patienceMs ?? PATIENCE_MS;
  }
}

/** Does the work on a connection of its own to the first endpoint that is reached, and closes it. */
export async function withNats<T>(
  options: DatastoreOptions,
  signal: AbortSignal,
  work: (session: NatsSession) => Promise<T>,
): Promise<T> {
  const endpoints = parseEndpoints("NATS", options.endpoints);
  return firstReached(endpoints, (endpoint) => dial(options, endpoint, signal)).then(async (session) => {
    try {
      return await work(session);
    } finally {
      await session.connection.close();
    }
  });
}

async function dial(options: DatastoreOptions, endpoint: Endpoint, signal: AbortSignal): Promise<NatsSession> {
  const { clock, patienceMs: ms = PATIENCE_MS, tls, basicAuth } = options;
  const on = `NATS ${endpoint.text}`;
  // With the host, a certificate is held against an address, too.
  const secure = tls === undefined ? null : ({ ...tls, host: endpoint.host } as TlsOptions);
  return within({ clock, ms, signal, on, explain: natsFault }, async (limit) => {
    const connection = await connect({
      servers: endpoint.text,
      ...{ name: "slipway", reconnect: false, ignoreClusterUpdates: true, timeout: ms, tls: secure },
      ...(basicAuth && { user: basicAuth.username, pass: basicAuth.password }),
    });
    if (limit.aborted) await connection.close();
    return new NatsSession(connection, options, on, signal);
  });
}

function refusal(
  { code, err_code: number = 0, description = "no reason given" }: NonNullable<Answer["error"]>,
  on: string,
): Fault {
  const fault = (kind: Fault["code"], remedy?: string): Fault =>
    new Fault(kind, on, description, { ...(remedy !== undefined && { remedy }), details: { code, number } });
  if (number === STREAM_NOT_FOUND) return fault("NotFound");
  if (NOT_ENABLED.has(number)) return fault("Unsupported", "enable JetStream for the account of spec.basicAuth");
  if (TOO_MANY_STREAMS.has(number))
    return fault(
      "NoCapacity",
      "the account holds no more tenants: raise its max_streams, or give each tenant a DataStore with an account of its own",
    );
  if (FULL.has(number)) return fault("NoCapacity", "raise JetStream's max_file_store or the account's limits");
  return fault(code === 503 ? "Unavailable" : "Internal");
}

/** Codes of the client: https://github.com/nats-io/nats.js, `ErrorCode`. */
function natsFault(error: unknown, on: string): unknown {
  if (error instanceof Fault) return error;
  const {
    code = "",
    message: text = "",
    chainedError,
  } = error as { code?: string; message?: string; chainedError?: Error };
  const fault = (kind: Fault["code"], message: string, remedy: string): Fault =>
    new Fault(kind, on, message, { remedy, cause: error });
  switch (code) {
    case "AUTHORIZATION_VIOLATION":
    case "AUTHENTICATION_EXPIRED":
    case "ACCOUNT_AUTHENTICATION_EXPIRED":
      return fault("BadCredentials", "it refuses the user", "correct spec.basicAuth of the DataStore");
    case "PERMISSIONS_VIOLATION":
      return fault(
        "BadCredentials",
        text,
        "let the user of spec.basicAuth publish to and subscribe from $JS.API.> and _INBOX.>",
      );
    case "503":
      return fault("Unsupported", "JetStream does not answer", "enable JetStream at the server");
    case "SERVER_OPTION_NA":
      return fault("Invalid", "it offers no TLS", "remove spec.tlsConfig, or switch TLS on at the server");
    case "TLS":
      return (
        networkFault(chainedError ?? error, on) ??
        fault("Invalid", `TLS fails (${text})`, "look at spec.tlsConfig of the DataStore")
      );
    case "CONNECTION_REFUSED":
      return fault(
        "Unavailable",
        "not reached (ECONNREFUSED)",
        "start the server, or correct spec.endpoints of the DataStore",
      );
    case "TIMEOUT":
    case "CONNECTION_TIMEOUT":
    case "CONNECTION_CLOSED":
    case "DISCONNECT":
      return fault(
        "Unavailable",
        "no answer",
        "look at the server's load and at the network in between; it is tried again",
      );
    default:
      return networkFault(error, on) ?? new Fault("Internal", on, text, { cause: error });
  }
}
