/**
 * The web console's server: the page, sign-in, the way to the Kubernetes API with the user's own credentials, and one stream of events
 * for each page. It has no rights of its own: what a user sees and does, the API allows that user, or it does not.
 */
import type { AddressInfo } from "node:net";
import { asFault, Fault, isFault, quietLog } from "@slipway/base";
import { createClient } from "@slipway/kube";
import fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { eventRoutes } from "./event-routes.ts";
import { STREAM_TIMES } from "./event-stream.ts";
import type { FollowersOf } from "./followers.ts";
import { guard } from "./guard.ts";
import { resourceOf } from "./kind-name.ts";
import { oidcRoutes } from "./oidc-routes.ts";
import { outputRoutes } from "./output-routes.ts";
import { pageRoutes } from "./page-routes.ts";
import type { ConsolePorts, ConsoleSettings, Desk } from "./ports.ts";
import { jsonBodies, proxyRoutes } from "./proxy-routes.ts";
import { type SessionPorts, Sessions } from "./session.ts";
import { sessionRoutes } from "./session-routes.ts";

export interface Console {
  port: number;
  /** `http://127.0.0.1:8090`, without a trailing slash. */
  url: string;
  /** How many sessions there are, and kinds that they follow: a leak shows here. */
  counts(): { sessions: number; follows: number };
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 1_000;
const REQUEST_MS = 30_000;
const MAX_HEADER_BYTES = 32 * 1024;
const MOST_KINDS = 160;
const MOST_OBJECTS = 25_000;

/** Starts the console. Rejects when the port can't be bound. */
export async function startConsole(ports: ConsolePorts, settings: ConsoleSettings): Promise<Console> {
  const { host = "127.0.0.1", port, tls, urls = [], oidc, limits, times = STREAM_TIMES } = settings;
  const reach = { isSecure: tls !== undefined, urls };
  const sessions = new Sessions({ ...ports, followersOf: (session) => followersOf(ports, session) }, limits);
  const app = appOf(tls);
  const desk: Desk = { ...ports, sessions, reach, oidc, times };
  guard(app, reach);
  jsonBodies(app);
  answerErrors(app, ports);
  sessionRoutes(app, desk);
  oidcRoutes(app, desk);
  proxyRoutes(app, desk);
  eventRoutes(app, desk);
  outputRoutes(app, desk);
  pageRoutes(app, desk);
  app.server.maxConnections = MOST_CONNECTIONS;
  await app.listen({ host, port }).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw portFault(error, host, port);
  });
  const address = app.server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    port: address.port,
    url: `${tls === undefined ? "http" : "https"}://${name}:${address.port}`,
    counts: () => ({ sessions: sessions.size, follows: sessions.follows }),
    async close() {
      sessions.close();
      await app.close();
    },
  };
}

function portFault(cause: NodeJS.ErrnoException, host: string, port: number): Fault {
  const isTaken = cause.code === "EADDRINUSE";
  const what = isTaken ? "another process listens there" : `can't listen there (${cause.code ?? cause.message})`;
  return new Fault(isTaken ? "AlreadyExists" : "Unavailable", `console ${host}:${port}`, what, {
    remedy: "choose another --console-port",
    cause,
  });
}

function appOf(tls: ConsoleSettings["tls"]): FastifyInstance {
  const options = {
    logger: false,
    requestTimeout: REQUEST_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    trustProxy: false,
    // No route has a schema: what would compile them is not loaded.
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 8_192 },
  } as const;
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_MS, insecureHTTPParser: false };
  return tls === undefined
    ? fastify({ ...options, http: limits })
    : (fastify({ ...options, https: { ...limits, ...tls } }) as unknown as FastifyInstance);
}

function noSchema(): never {
  throw new Fault("Bug", "console", "a route has a schema");
}

/** What follows kinds for one session: a client of its own, over its own sockets. */
function followersOf(
  { clock, random, log }: ConsolePorts,
  { transport, refused }: Parameters<SessionPorts["followersOf"]>[0],
): FollowersOf {
  const client = createClient(transport, { clock, random, log: quietLog });
  return {
    ...{
      client,
      clock,
      random,
      refused,
      log: log.child({ part: "console" }),
      most: MOST_OBJECTS,
      mostKinds: MOST_KINDS,
    },
    lookUp: (kind, signal) => resourceOf(kind, transport, signal),
  };
}

const STATUS: Partial<Record<Fault["code"], number>> = {
  ...{ BadRequest: 400, Invalid: 400, Unauthorized: 401, Forbidden: 403, Refused: 403, NotFound: 404 },
  ...{ TooLarge: 413, Throttled: 429, Unavailable: 503, LostAnswer: 502, Timeout: 504 },
};

/** Errors have a JSON body with a message; what is no fault of ours says nothing of the inside. */
function answerErrors(app: FastifyInstance, { log }: ConsolePorts): void {
  app.setErrorHandler((error: FastifyError | Fault | DOMException, _request, reply) => {
    reply.type("application/json; charset=utf-8");
    if (error instanceof DOMException)
      return reply.code(error.name === "TimeoutError" ? 504 : 401).send(JSON.stringify({ message: error.message }));
    if (isFault(error)) return reply.code(STATUS[error.code] ?? 500).send(JSON.stringify({ message: error.advice }));
    const { statusCode = 500 } = error as FastifyError;
    if (statusCode >= 500) log.error({ code: asFault(error, "console").code }, "the console could not serve a request");
    const message = statusCode < 500 ? error.message : "internal error";
    return reply.code(statusCode).send(JSON.stringify({ message }));
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: "there is nothing here" }));
}
