import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { constants, createSecureServer, type Http2SecureServer, type Http2ServerResponse } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, Fault, type Log } from "@slipway/base";
import { createServer } from "@slipway/base/node-http";
import { userOfCertificate } from "../auth/authenticate.ts";
import type { ServerAnswer, ServerRequest } from "../model/request.ts";
import { sendPlain, sendStream } from "./answer.ts";
import { boundConnections, CONNECTION_LIMITS, type ConnectionLimits, type Connections } from "./connections.ts";
import { breakOff, type FaceRequest, type FaceResponse, headersOf, isHttp2 } from "./exchange.ts";
import { guardSessions, SESSION_OPTIONS } from "./http2-guard.ts";
import { ItemTexts } from "./item-texts.ts";
import { pendingBody } from "./pending-body.ts";

export interface ListenOptions {
  /** 0 or unset: any free port. */
  port?: number;
  /** Loopback unless said. */
  host?: string;
  /** PEM texts. `clientCa` verifies client certificates, whose CN and O name the user. */
  tls?: { cert: string; key: string; clientCa?: string };
  /** A reader that takes nothing for this long while there is something to send is disconnected. 30 s unless said. */
  stalledMs?: number;
  /** How long a client may take to send its headers, and after them its body. 30 s and 60 s unless said. */
  headersMs?: number;
  bodyMs?: number;
  connections?: Partial<ConnectionLimits>;
}

export interface Listening {
  port: number;
  url: string;
  /** Takes no new connections, lets answers under way end for a second, then closes what is left. */
  close(): Promise<void>;
}

export interface FacePorts {
  log: Log;
  clock: Clock;
}

type Handle = (request: ServerRequest) => Promise<ServerAnswer>;

const STALLED_MS = 30_000;
const HEADERS_MS = 30_000;
const BODY_MS = 60_000;
const HANDSHAKE_MS = 10_000;
const KEEP_ALIVE_MS = 120_000;
const CLOSE_GRACE_MS = 1_000;
const LINGER_MS = 500;
/** A whole request, its body included, whatever became of it; and how often that is looked at. */
const CHECKS = { requestTimeout: 120_000, connectionsCheckingInterval: 5_000 };

/** Serves requests: over TLS by HTTP/2 or HTTP/1.1, as the client chooses, else by HTTP/1.1. Rejects with `Unavailable` when the port can't be had. */
export async function listen(handle: Handle, { log, clock }: FacePorts, options: ListenOptions): Promise<Listening> {
  const { host = "127.0.0.1", port: wanted = 0, tls, stalledMs = STALLED_MS, bodyMs = BODY_MS } = options;
  const headersMs = options.headersMs ?? HEADERS_MS;
  const server: NetServer = tls === undefined ? openPlain(headersMs) : openSecure(tls, headersMs, clock);
  const connections = boundConnections(server, { ...CONNECTION_LIMITS, ...options.connections });
  const itemTexts = new ItemTexts();
  const face: Face = { handle, clock, stalledMs, bodyMs, connections, itemTexts, closing: false };
  const onRequest = (req: FaceRequest, res: FaceResponse, waits: boolean): void => {
    serve(face, req, res, waits).catch((error: unknown) => {
      log.debug({ error }, "a connection broke");
      breakOff(res);
    });
  };
  server.on("request", (req: FaceRequest, res: FaceResponse) => onRequest(req, res, false));
  server.on("checkContinue", (req: FaceRequest, res: FaceResponse) => onRequest(req, res, true));
  server.listen(wanted, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new Fault("Unavailable", "api server", `can't listen on ${host}:${wanted}`, {
      remedy: "end what listens there, or choose another address or port (0: any free one)",
      cause,
    });
  }
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    port,
    url: `${tls === undefined ? "http" : "https"}://${name}:${port}`,
    async close() {
      face.closing = true;
      const closed = once(server, "close");
      server.close();
      const force = clock.after(CLOSE_GRACE_MS, () => connections.destroy());
      await closed;
      force.cancel();
    },
  };
}

function openPlain(headersMs: number): Server {
  const server = createServer({ headersTimeout: headersMs, ...CHECKS });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

function openSecure(
  { cert, key, clientCa }: NonNullable<ListenOptions["tls"]>,
  headersMs: number,
  clock: Clock,
): Http2SecureServer {
  // A client without a certificate may still bring a token, so the handshake does not insist.
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false };
  const handshakeTimeout = HANDSHAKE_MS;
  const tls = { cert, key, minVersion: "TLSv1.2", handshakeTimeout, ...client } as const;
  const server = createSecureServer({ ...tls, ...SESSION_OPTIONS, ...CHECKS, allowHTTP1: true });
  Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: headersMs });
  guardSessions(server, clock);
  return server;
}

interface Face {
  handle: Handle;
  clock: Clock;
  stalledMs: number;
  bodyMs: number;
  connections: Connections;
  itemTexts: ItemTexts;
  closing: boolean;
}

/** Why a request's signal is aborted: one for all, since every request's is in the end. */
const CLOSED = new Fault("LostAnswer", "request", "the connection is closed");

async function serve(face: Face, req: FaceRequest, res: FaceResponse, waits: boolean): Promise<void> {
  const { stalledMs } = face;
  const gone = new AbortController();
  let recognized = false;
  res.on("close", () => gone.abort(CLOSED));
  res.setHeader("cache-control", "no-cache, private");
  const pending = pendingBody(req, res, { ...face, waits });
  const { url = "/", method = "GET" } = req;
  const mark = url.indexOf("?");
  const answer = await face.handle({
    method,
    path: mark < 0 ? url : url.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)),
    headers: headersOf(req),
    ...(pending && { pending }),
    ...senderOf(req, res),
    signal: gone.signal,
    recognized() {
      recognized = true;
      const { remoteAddress, remotePort } = req.socket;
      face.connections.recognize(remoteAddress, remotePort);
    },
  });
  if (res.destroyed) return;
  if (isHttp2(res)) endStream(face, res, recognized);
  else if (pending !== undefined && !req.complete) {
    res.setHeader("connection", "close");
    linger(face, res);
  }
  if ("stream" in answer) await sendStream(res, answer, stalledMs);
  else await sendPlain(req, res, answer, face);
  // A connection without a request would else be waited for.
  if (face.closing && !isHttp2(res)) res.socket?.destroySoon();
}

/** What the client still sends after the answer is discarded for a moment; a stranger gets, as upstream, no more of the connection. */
function endStream({ clock }: Face, { stream }: Http2ServerResponse, recognized: boolean): void {
  stream.once("finish", () => {
    stream.resume();
    // Not at once: the reset would overtake the answer.
    const timer = clock.after(LINGER_MS, () => stream.close(constants.NGHTTP2_NO_ERROR));
    stream.once("close", () => timer.cancel());
    if (!recognized) stream.session?.close();
  });
}

/** What the client still sends is discarded for a moment after the answer: a reset would take the answer from it. */
function linger({ clock }: Face, res: ServerResponse): void {
  const { socket } = res;
  if (socket === null) return;
  res.req.resume();
  socket.destroySoon = () => {
    socket.end();
    const timer = clock.after(LINGER_MS, () => socket.destroy());
    socket.once("close", () => timer.cancel());
  };
}

type Sender = Pick<ServerRequest, "user" | "badCertificate">;

/** Who is at the other end of a connection, found out once. */
const senders = new WeakMap<object, Sender>();

function senderOf(req: FaceRequest, res: FaceResponse): Sender {
  const connection = isHttp2(res) ? res.stream.session! : req.socket;
  let found = senders.get(connection);
  if (found === undefined) {
    found = certificateUser(req.socket as Partial<TLSSocket>);
    senders.set(connection, found);
  }
  return found;
}

function certificateUser(socket: Partial<TLSSocket>): Sender {
  const { subject, fingerprint256 } = socket.getPeerCertificate?.() ?? {};
  if (subject === undefined || fingerprint256 === undefined) return {};
  if (socket.authorized !== true) return { badCertificate: true };
  const user = userOfCertificate(subject, fingerprint256.replaceAll(":", "").toLowerCase());
  return user === undefined ? { badCertificate: true } : { user };
}
